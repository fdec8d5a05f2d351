import {once} from 'node:events';
import {createServer, type AddressInfo} from 'node:net';

/** Returns different free ports. */
export async function freePorts(count: number): Promise<readonly number[]> {
  const servers = Array.from({length: count}, () => createServer().listen(0, '127.0.0.1'));
  await Promise.all(servers.map((server) => once(server, 'listening')));
  return servers.map((server) => {
    const {port} = server.address() as AddressInfo;
    server.close();
    return port;
  });
}
