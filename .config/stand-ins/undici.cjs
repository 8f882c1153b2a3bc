// The parts of undici that the client uses. The one for proxies loads at its first use.
const Dispatcher = require('undici/lib/dispatcher/dispatcher.js');

exports.Agent = require('undici/lib/dispatcher/agent.js');
exports.Pool = require('undici/lib/dispatcher/pool.js');
Object.defineProperty(exports, 'ProxyAgent', {
  get() {
    Dispatcher.prototype.connect = require('undici/lib/api/api-connect.js');
    return require('undici/lib/dispatcher/proxy-agent.js');
  },
});
