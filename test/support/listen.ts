import { once } from 'node:events';
import type { AddressInfo, Server, Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/**
 * Lets a server listen on a loopback port. After the test, it is closed with its connections.
 * @param others connections that it opened itself, to be closed, too
 * @returns the port
 */
export async function listen(server: Server, others: Iterable<Socket> = []): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    for (const socket of [...sockets, ...others]) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}
