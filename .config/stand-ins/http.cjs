// What undici uses of node:http.
exports.IncomingMessage = class {};
exports.maxHeaderSize = 16_384;
