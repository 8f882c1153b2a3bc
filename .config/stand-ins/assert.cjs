module.exports = (ok, why) => {
  if (!ok) throw why instanceof Error ? why : new Error(`assertion failed${why ? `: ${why}` : ''}`);
};
