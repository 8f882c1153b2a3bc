exports.IncomingMessage = class {};
exports.maxHeaderSize = 16_384;
