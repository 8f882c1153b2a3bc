// Preloaded by the crash tests. Of the calls that change files, number FAULT_AT fails or kills the process, as FAULT_MODE
// says; 'onwards' makes all later ones fail, too. The name of the call is written to FAULT_MARK.
const fs = require('node:fs');

const { FAULT_AT, FAULT_MODE, FAULT_MARK } = process.env;
const at = Number(FAULT_AT);
const mark = fs.writeFileSync;
let calls = 0;
let isMarking = false;

function fault(name) {
  if (isMarking) return undefined;
  calls += 1;
  if (calls !== at && !(FAULT_MODE === 'onwards' && calls > at)) return undefined;
  isMarking = true;
  mark(FAULT_MARK, name);
  isMarking = false;
  if (FAULT_MODE === 'kill') process.kill(process.pid, 'SIGKILL');
  return Object.assign(new Error('EIO: i/o error, injected'), {
    code: 'EIO',
    errno: -5,
    syscall: 'injected',
  });
}

function failing(name, isCounted = () => true) {
  const real = fs[name];
  fs[name] = (...args) => {
    const error = isCounted(args) ? fault(name) : undefined;
    if (!error) return real(...args);
    if (name.endsWith('Sync')) throw error;
    return process.nextTick(args.at(-1), error);
  };
}

failing('openSync', ([, flags]) => typeof flags === 'string' && flags.startsWith('wx'));
for (const name of ['writeSync', 'renameSync', 'linkSync', 'write', 'fsync'])
  failing(name, ([fd]) => fd !== 1 && fd !== 2);
