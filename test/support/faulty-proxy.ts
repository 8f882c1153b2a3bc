import { connect, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { listen } from './listen.ts';

/** How a connection breaks. */
const FAULTS = ['end', 'reset', 'half-close', 'stall'] as const;

/** Bytes of an answer below which most faults lie. */
const FAR = 40_000;

export interface FaultyProxy {
  readonly url: string;
  /** It counts the faults that happened. */
  broken: number;
}

interface Plan {
  /** None: the connection stays whole. */
  readonly fault: (typeof FAULTS)[number] | undefined;
  readonly isUpwards: boolean;
  /** Bytes in that direction before the fault. */
  readonly at: number;
  readonly isSlow: boolean;
}

function planOf(random: () => number): Plan {
  const fault = random() < 0.4 ? FAULTS[Math.floor(random() * FAULTS.length)] : undefined;
  const isUpwards = random() < 0.2;
  return { fault, isUpwards, at: Math.floor(random() * (isUpwards ? 300 : FAR)), isSlow: random() < 0.3 };
}

/** Passes bytes on in slices, some of them late; breaks connections at random places. */
export async function startFaultyProxy(port: number, random: () => number): Promise<FaultyProxy> {
  const upstreams = new Set<Socket>();
  const proxy = { url: '', broken: 0 };
  const server = createServer({ allowHalfOpen: true }, (client) => {
    const upstream = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    upstreams.add(upstream);
    client.on('error', () => upstream.destroy());
    upstream.on('error', () => client.destroy());
    const plan = planOf(random);
    const onBreak = () => {
      proxy.broken += 1;
    };
    const connection = { client, plan, random, onBreak };
    pass(client, upstream, { ...connection, mayBreak: plan.isUpwards }).catch(() => {});
    pass(upstream, client, { ...connection, mayBreak: !plan.isUpwards }).catch(() => {});
  });
  proxy.url = `http://127.0.0.1:${await listen(server, upstreams)}`;
  return proxy;
}

interface Connection {
  readonly client: Socket;
  readonly plan: Plan;
  readonly random: () => number;
  readonly onBreak: () => void;
  readonly mayBreak: boolean;
}

async function pass(from: Socket, to: Socket, { client, plan, random, onBreak, mayBreak }: Connection) {
  const { fault, isSlow } = plan;
  let left = mayBreak && fault ? plan.at : Number.POSITIVE_INFINITY;
  for await (const bytes of from as AsyncIterable<Buffer>)
    for (const slice of slices(bytes, random)) {
      if (isSlow) await sleep(random() * 5);
      to.write(slice.subarray(0, left));
      left -= slice.length;
      if (left > 0) continue;
      onBreak();
      // At once, a reset would overtake what was written.
      await sleep(10);
      breakOff(client, fault);
      return;
    }
  to.end();
}

function* slices(bytes: Buffer, random: () => number): Generator<Buffer> {
  for (let begin = 0; begin < bytes.length; ) {
    const slice = bytes.subarray(begin, begin + 1 + random() * bytes.length);
    begin += slice.length;
    yield slice;
  }
}

function breakOff(client: Socket, fault: Plan['fault']): void {
  if (fault === 'end') client.destroy();
  if (fault === 'reset') client.resetAndDestroy();
  if (fault === 'half-close') client.end();
}
