"""Writes math_coefficients.h: the tables and polynomials of the elementary functions.

Run: python semantics/simd/math_coefficients.py > semantics/simd/math_coefficients.h   (needs mpmath)
Polynomials interpolate at Chebyshev nodes in 60-digit arithmetic (within a factor ~2 of the minimax error), then each
coefficient is rounded to double. The largest error of each rounded polynomial is printed beside it.
"""

import mpmath as mp

mp.mp.dps = 60
ERFC_CENTRE = mp.mpf(3)


def hexfloat(x):
  """x rounded to the nearest double, as C++ text."""
  return float(x).hex()


def fit(f, a, b, degree):
  """Monomial coefficients (lowest first) of the interpolant of f on [a, b] at the Chebyshev nodes."""
  a, b, n = mp.mpf(a), mp.mpf(b), degree + 1
  nodes = [(a + b) / 2 + (b - a) / 2 * mp.cos(mp.pi * (2 * k + 1) / (2 * n)) for k in range(n)]
  vandermonde = mp.matrix(n, n)
  values = mp.matrix(n, 1)
  for i, x in enumerate(nodes):
    x = x if abs(x) > mp.mpf("1e-15") else mp.mpf("1e-15")  # most f here are 0/0 at 0
    values[i] = f(x)
    for j in range(n):
      vandermonde[i, j] = x**j
  return [mp.mpf(float(c)) for c in mp.lu_solve(vandermonde, values)]


def error(f, coefficients, a, b, weight):
  """log2 of the largest |f - p| * weight on a grid over [a, b]."""
  a, b = mp.mpf(a), mp.mpf(b)
  worst = mp.mpf(0)
  for i in range(401):
    x = a + (b - a) * (i + mp.mpf("0.37")) / 402
    worst = max(worst, abs((f(x) - mp.polyval(coefficients[::-1], x)) * weight(x)))
  return mp.nstr(mp.log(worst, 2), 4) if worst else "-inf"


def emit(name, values, comment=""):
  if comment:
    print(f"// {comment}")
  print(f"alignas(64) inline constexpr double {name}[{len(values)}] = {{")
  row = "   "
  for v in values:
    item = f" {hexfloat(v)},"
    if len(row) + len(item) > 119:
      print(row)
      row = "   "
    row += item
  print(row)
  print("};")


def constant(name, value):
  print(f"inline constexpr double {name} = {hexfloat(value)};")


def round_to(x, bits):
  """x rounded to a multiple of 2^-bits."""
  return mp.nint(x * mp.mpf(2)**bits) / mp.mpf(2)**bits


def series(name, f, a, b, degree, weight, what):
  c = fit(f, a, b, degree)
  emit(name, c, f"{what} on [{mp.nstr(mp.mpf(a), 6)}, {mp.nstr(mp.mpf(b), 6)}]: error 2^{error(f, c, a, b, weight)}")


def exp_tables():
  n = 16
  ln2 = mp.log(2)
  step = ln2 / n
  constant("kExpInvStep", 1 / step)
  hi = round_to(step, 42)
  constant("kExpStepHi", hi)
  constant("kExpStepLo", step - hi)
  constant("kExpStepLo2", step - hi - mp.mpf(float(step - hi)))
  table = [mp.mpf(2)**(mp.mpf(j) / n) for j in range(n)]
  emit("kExpTable", table, "2^(j/16)")
  emit("kExpTableLo", [t - mp.mpf(float(t)) for t in table], "what rounding took from the entries above")
  half = step / 2 * mp.mpf("1.0001")

  def q(r):
    return (mp.expm1(r) - r) / r**2

  series("kExpPoly5", q, -half, half, 5, lambda r: r**2, "(e^r - 1 - r) / r^2; weight r^2")
  series("kExpPoly4", q, -half, half, 4, lambda r: r**2, "(e^r - 1 - r) / r^2; weight r^2")
  half2 = mp.mpf(1) / 32 * mp.mpf("1.0001")

  def q2(r):
    return mp.expm1(r * ln2) / r

  series("kExp2Poly6", q2, -half2, half2, 6, abs, "(2^r - 1) / r; weight |r|")
  series("kExp2Poly5", q2, -half2, half2, 5, abs, "(2^r - 1) / r; weight |r|")


def log_tables():
  n = 128
  one = 0x3FF0000000000000
  # 1.0 lies at two thirds of its interval, so that the interval [1 - w, 1 + w] keeps c = 1: entries below 1 are half as
  # wide as those above.
  off = one - int(round((75 + 2 / 3) * 2**45))
  print(f"inline constexpr unsigned long long kLogOffset = {off:#x};")
  import struct

  def value(bits):
    return mp.mpf(struct.unpack("<d", struct.pack("<Q", bits))[0])

  cs, his, los, worst = [], [], [], mp.mpf(0)
  for i in range(n):
    lo, hi = value(off + (i << 45)), value(off + ((i + 1) << 45))
    c = round_to(2 / (lo + hi), 19)
    if lo <= 1 <= hi:
      c = mp.mpf(1)
    worst = max(worst, abs(lo * c - 1), abs(hi * c - 1))
    cs.append(c)
    log_hi = round_to(-mp.log(c), 42)
    his.append(log_hi)
    los.append(-mp.log(c) - log_hi)
  emit("kLogC", cs, "c: about 1 / middle of interval i, 20 bits")
  emit("kLogHi", his, "-log c to a multiple of 2^-42")
  emit("kLogLo", los, "the rest of -log c")
  emit("kLogLo2", [-mp.log(c) - h - mp.mpf(float(l)) for c, h, l in zip(cs, his, los)], "and the rest of that")
  emit("kLogFull", [h + l for h, l in zip(his, los)], "-log c in one double")
  ln2 = mp.log(2)
  hi = round_to(ln2, 42)
  constant("kLn2", ln2)
  constant("kLn2Hi", hi)
  constant("kLn2Lo", ln2 - hi)
  constant("kLn2Lo2", ln2 - hi - mp.mpf(float(ln2 - hi)))
  constant("kInvLn2", 1 / ln2)
  constant("kInvLn2Lo", 1 / ln2 - mp.mpf(float(1 / ln2)))

  def q(r):
    return (mp.log1p(r) - r) / r**2

  worst *= mp.mpf("1.0001")
  series("kLogPoly6", q, -worst, worst, 6, abs, "(log(1 + r) - r) / r^2; weight |r|")
  series("kLogPoly5", q, -worst, worst, 5, abs, "(log(1 + r) - r) / r^2; weight |r|")


def trig_tables():
  half_pi = mp.pi / 2
  constant("kTwoOverPi", 1 / half_pi)
  p1 = round_to(half_pi, 32)
  p2 = round_to(half_pi - p1, 65)
  constant("kHalfPi1", p1)  # 33 bits
  constant("kHalfPi2", p2)  # at most 33 bits more
  constant("kHalfPi3", half_pi - p1 - p2)
  hi = mp.mpf(float(half_pi))
  constant("kHalfPiHi", hi)
  constant("kHalfPiLo", half_pi - hi)
  words = 20
  print("// The bits of 2/pi after the binary point, 64 to a word.")
  print(f"inline constexpr unsigned long long kTwoOverPiBits[{words}] = {{")
  with mp.workdps(500):
    bits = int(mp.floor(2 / mp.pi * mp.mpf(2)**(64 * words)))
  for i in range(words):
    print(f"    {(bits >> (64 * (words - 1 - i))) & (2**64 - 1):#018x},")
  print("};")
  end = (mp.pi / 4)**2 * mp.mpf("1.0001")

  def s(z):
    r = mp.sqrt(z)
    return (mp.sin(r) - r) / r**3

  def c(z):
    return (mp.cos(mp.sqrt(z)) - 1 + z / 2) / z**2

  series("kSinPoly", s, 0, end, 6, lambda z: z, "(sin r - r) / r^3 in r^2; weight r^2")
  series("kCosPoly", c, 0, end, 6, lambda z: z**2, "(cos r - 1 + r^2/2) / r^4 in r^2; weight r^4")
  table = [mp.atan(mp.mpf(i) / 16) for i in range(17)]
  emit("kAtanHi", table, "atan(i/16)")
  emit("kAtanLo", [t - mp.mpf(float(t)) for t in table], "what rounding took from the entries above")

  def a(z):
    t = mp.sqrt(z)
    return (mp.atan(t) - t) / t**3

  series("kAtanPoly", a, 0, mp.mpf(1) / 1000, 4, lambda z: z, "(atan t - t) / t^3 in t^2; weight t^2")


def cbrt_tables():
  series("kRcbrtPoly", lambda m: m**(-mp.mpf(1) / 3), "0.703", "1.41", 5, lambda m: m**(mp.mpf(1) / 3), "m^(-1/3)")
  emit("kRcbrtScale", [mp.mpf(2)**(-mp.mpf(i) / 3) for i in range(3)], "2^(-i/3)")


def erf_tables():
  def small(z):
    a = mp.sqrt(z)
    return mp.erf(a) / a - 1

  series("kErfPoly", small, 0, 1, 14, lambda z: 1, "erf(a)/a - 1 in a^2")
  constant("kErfcCentre", ERFC_CENTRE)

  def tail(t):
    a = ERFC_CENTRE * (1 + t) / (1 - t)
    with mp.workdps(600):
      return mp.exp(a * a) * mp.erfc(a) * (1 + 2 * a)

  end = (mp.mpf(28) - ERFC_CENTRE) / (28 + ERFC_CENTRE)
  series("kErfcPoly", tail, -1, end, 25, lambda t: 1 / tail(t), "(1 + 2a) e^(a^2) erfc(a) in t = (a - centre) / (a + centre)")

  def inverse(w):
    with mp.workdps(110):
      x = mp.sqrt(-mp.expm1(-w))
      y = mp.erfinv(x)
      for _ in range(2):  # mpmath's is not accurate to the last digits close to 1
        y -= (mp.erf(y) - x) * mp.sqrt(mp.pi) / 2 * mp.exp(y * y)
      return y / x

  def relative(f):
    return lambda w: 1 / f(w)

  def of_root(s):
    return inverse(s * s)

  def centred(f, middle):
    return lambda u: f(u + middle)

  f1 = centred(inverse, mp.mpf("3.125"))
  series("kErfInvPoly1", f1, "-3.125", "3.125", 22, relative(f1), "erf_inv(x)/x in w - 3.125, w = -log(1 - x^2)")
  f2 = centred(of_root, mp.mpf("3.25"))
  series("kErfInvPoly2", f2, "-0.75", "0.76", 18, relative(f2), "erf_inv(x)/x in sqrt(w) - 3.25")
  f3 = centred(of_root, mp.mpf(5))
  series("kErfInvPoly3", f3, "-1", "1.02", 17, relative(f3), "erf_inv(x)/x in sqrt(w) - 5")


def bessel_tables():
  def small(z):
    return (mp.besseli(0, mp.sqrt(z)) - 1) / z

  series("kBesselI0Poly", small, 0, 64, 20, lambda z: z / (1 + z * small(z)), "(I0(x) - 1) / x^2 in x^2; weight x^2 / I0(x)")

  def tail(t):
    x = 16 / (1 + t) if t > -1 else mp.mpf("1e40")
    if x > 1000:  # the asymptotic series
      return mp.hyp2f0(mp.mpf(1) / 2, mp.mpf(1) / 2, 1 / (2 * x)) / mp.sqrt(2 * mp.pi)
    with mp.workdps(110):
      return mp.exp(-x) * mp.besseli(0, x) * mp.sqrt(x)

  series("kBesselI0eTailPoly", tail, -1, 1, 26, lambda t: 1 / tail(t), "e^-x I0(x) sqrt(x) in t = 16 / x - 1")


def main():
  print("// Tables and polynomial coefficients of the elementary functions. Generated by math_coefficients.py, which says how;")
  print("// do not edit. Coefficients are lowest first; each error is measured on the rounded coefficients.")
  print("#ifndef PALLADION_SEMANTICS_SIMD_MATH_COEFFICIENTS_H_")
  print("#define PALLADION_SEMANTICS_SIMD_MATH_COEFFICIENTS_H_")
  print()
  print("namespace palladion::simd {")
  print()
  exp_tables()
  print()
  log_tables()
  print()
  trig_tables()
  print()
  cbrt_tables()
  print()
  erf_tables()
  print()
  bessel_tables()
  print()
  print("}  // namespace palladion::simd")
  print()
  print("#endif  // PALLADION_SEMANTICS_SIMD_MATH_COEFFICIENTS_H_")


if __name__ == "__main__":
  main()
