// No name is known beforehand: undici makes each one that it meets small by itself.
module.exports = { wellknownHeaderNames: [], headerNameLowerCasedRecord: Object.create(null) };
