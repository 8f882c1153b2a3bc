import { isIP } from 'node:net';

/** Whether only this machine can reach what listens there. */
export function isLoopback(host: string): boolean {
  if (isIP(host) === 4) return host.startsWith('127.');
  return host === 'localhost' || host === '::1';
}
