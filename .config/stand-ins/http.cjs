// The parts of node:http that undici uses.
exports.IncomingMessage = class {};
exports.maxHeaderSize = 16_384;
