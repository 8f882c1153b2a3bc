module.exports = (ok, why) => {
  if (ok) return;
  if (why instanceof Error) throw why;
  throw Object.assign(new Error(`assertion failed${why ? `: ${why}` : ''}`), { code: 'ERR_ASSERTION' });
};
