// How the search of the site ranks pages: put behind Sphinx's searchtools.js (docs/site/conf.py), whose own rules want
// every word of a question on a page, and rank a page by its best word.
//
// Here a word that is rare counts more, one in a heading more than one in the text, one in the page's own title most,
// and a page may lack words, if those that it has make up SHARE of the question. Pages for users come before the
// specification and the pages about the sources. Not known: how often a word stands on a page, and synonyms.
"use strict";

const SHARE = 0.6;
const WEIGHTS = {text: 1, heading: 2.5, title: 5};
const PARTS = /*PARTS*/ {}; // of tools/site_pages.py: what the score of a page is multiplied by, where it is not 1

const partOf = (name) => PARTS[name] ?? PARTS[name.split("/")[0] + "/"] ?? 1;

// The pages that have `word`, or, where none has it, words that begin with it.
const pagesWith = (index, word) => {
  if (Object.hasOwn(index, word)) return [index[word]].flat();
  if (word.length < 3) return [];
  return Object.keys(index).filter((other) => other.startsWith(word)).flatMap((other) => index[other]);
};

Search.performTermsSearch = (searchTerms, excludedTerms) => {
  const {terms, titleterms, filenames, docnames, titles} = Search._index;
  const stemmer = new Stemmer();
  const words = titles.map((title) => splitQuery(title.toLowerCase()).map((word) => stemmer.stemWord(word)));
  const scores = new Map(), had = new Map();
  let whole = 0;
  for (const word of searchTerms) {
    const headings = new Set(pagesWith(titleterms, word));
    const pages = new Set([...pagesWith(terms, word), ...headings]);
    if (!pages.size) continue; // a word that no page has says nothing about any
    const rare = Math.log(1 + titles.length / (1 + pages.size));
    whole += rare;
    for (const page of pages) {
      const where = words[page].includes(word) ? "title" : headings.has(page) ? "heading" : "text";
      scores.set(page, (scores.get(page) ?? 0) + rare * WEIGHTS[where]);
      had.set(page, (had.get(page) ?? 0) + rare);
    }
  }
  const excluded = new Set([...excludedTerms].flatMap((word) => pagesWith(terms, word)));
  return [...scores.keys()]
    .filter((page) => had.get(page) >= SHARE * whole && !excluded.has(page))
    .map((page) => {
      const score = (10 * scores.get(page) * had.get(page) * partOf(docnames[page])) / (whole * whole);
      return [docnames[page], titles[page], "", null, score, filenames[page], SearchResultKind.text];
    });
};
