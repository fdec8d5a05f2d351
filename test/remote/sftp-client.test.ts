import {PassThrough} from 'node:stream';
import {expect, test} from 'vitest';
import {encodePacket, PACKET, PacketReader, STATUS} from '../../src/remote/sftp/sftp-packets.js';
import {SftpClient} from '../../src/remote/sftp/sftp-client.js';

/** Opens a client of a server that opens directories and cannot read them. `requests` are the types of its requests. */
async function connect() {
  const [stdin, stdout] = [new PassThrough(), new PassThrough()];
  const requests: number[] = [];
  const handles: string[] = [];
  stdin.on('data', (packet: Buffer) => {
    const type = packet[4] ?? 0;
    if (type === PACKET.init) {
      stdout.write(encodePacket(PACKET.version, [3]));
      return;
    }
    requests.push(type);
    const reader = new PacketReader(packet.subarray(5));
    const id = reader.uint32();
    const status = (code: number): Buffer => encodePacket(PACKET.status, [id, code, 'message', '']);
    if (type === PACKET.close) handles.push(reader.string().toString());
    stdout.write(
      type === PACKET.opendir
        ? encodePacket(PACKET.handle, [id, 'h1'])
        : status(type === PACKET.readdir ? STATUS.permissionDenied : STATUS.ok),
    );
  });
  const client = await SftpClient.open({stdin, stdout}, new Promise<never>(() => undefined));
  return {client, requests, handles};
}

test('a directory that cannot be read is closed', async () => {
  const {client, requests, handles} = await connect();
  await expect(client.list('/var/log')).rejects.toThrow();
  expect(requests).toEqual([PACKET.opendir, PACKET.readdir, PACKET.close]);
  expect(handles).toEqual(['h1']);
});
