// Who ended a wait, who issued an operation: arrows to and from the span that is pointed at or selected, and back along
// what held those up. Marks of both.
const MOST_HOPS = 10, MOST_HEIRS = 24;

function arrow(context, a, b, color, strong) {
  const x0 = a.x, x1 = b.x, bend = Math.max(18, Math.min(90, Math.abs(x1 - x0) / 2));
  context.strokeStyle = context.fillStyle = color;
  context.lineWidth = strong ? 2 : 1.2;
  context.beginPath(); context.moveTo(x0, a.y);
  context.bezierCurveTo(x0 + bend, a.y, x1 - bend, b.y, x1 - 5, b.y);
  context.stroke();
  context.beginPath(); context.moveTo(x1, b.y); context.lineTo(x1 - 8, b.y - 4.5); context.lineTo(x1 - 8, b.y + 4.5); context.fill();
  if (strong) { context.beginPath(); context.arc(x0, a.y, 3.2, 0, 7); context.fill(); }
}
// From the moment at which `from` ended or issued `to`.
function link(context, from, to, strong) {
  const a = rectOf(from), b = rectOf(to);
  arrow(context, {x: xOf(momentOf(to)), y: a.y + a.h / 2},
        {x: isEnded(to) ? b.x + b.w : b.x, y: b.y + b.h / 2}, theme.focus, strong);
}
function outline(context, i, width) {
  const box = rectOf(i);
  context.strokeStyle = theme.focus; context.lineWidth = width;
  context.strokeRect(box.x - 1, box.y - 1, Math.max(3, box.w + 1.5), box.h + 2);
}
function drawArrows(context) {
  const focus = view.hover >= 0 ? view.hover : view.selected;
  if (focus < 0) return;
  context.save();
  chainOf(focus, MOST_HOPS).forEach(([from, to, linked], hop) => {
    context.globalAlpha = Math.max(.12, 1 - hop * .2);
    if (linked) link(context, from, to, hop === 0);
    if (hop < 4) outline(context, from, 1);
  });
  context.globalAlpha = .45;
  for (const to of heirsOf(focus).subarray(0, MOST_HEIRS)) link(context, focus, to, false);
  context.globalAlpha = 1;
  if (view.selected >= 0) outline(context, view.selected, 2);
  if (view.hover >= 0) outline(context, view.hover, 1.5);
  context.restore();
}
