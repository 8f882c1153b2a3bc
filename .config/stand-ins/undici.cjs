// What the client uses of undici. The proxy's part loads when it is first asked for.
const Dispatcher = require('undici/lib/dispatcher/dispatcher.js');

exports.Agent = require('undici/lib/dispatcher/agent.js');
exports.Pool = require('undici/lib/dispatcher/pool.js');
Object.defineProperty(exports, 'ProxyAgent', {
  get() {
    Dispatcher.prototype.connect = require('undici/lib/api/api-connect.js');
    return require('undici/lib/dispatcher/proxy-agent.js');
  },
});
