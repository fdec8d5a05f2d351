/**
 * An SFTP server for the requests that read files, on this machine's file system. Like OpenSSH's, it returns at most a
 * part of a long read.
 */
import {
  closeSync,
  fstatSync,
  openSync,
  readdirSync,
  readSync,
  realpathSync,
  rmSync,
  statfsSync,
  statSync,
} from 'node:fs';

/** Longest answer to a read request, in bytes. */
const LONGEST_READ = 20_000;

const string = (text) => {
  const bytes = Buffer.from(text);
  return Buffer.concat([uint32(bytes.length), bytes]);
};
const uint32 = (value) => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value >>> 0);
  return bytes;
};

const uint64 = (value) => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(value));
  return bytes;
};

function attributes({size, mode, uid, gid, atimeMs, mtimeMs}) {
  const times = [atimeMs, mtimeMs].map((ms) => uint32(Math.floor(ms / 1000)));
  return Buffer.concat([
    uint32(15),
    uint32(Math.floor(size / 2 ** 32)),
    uint32(size),
    uint32(uid),
    uint32(gid),
    uint32(mode),
    ...times,
  ]);
}

/** Serves one session until the input ends. */
export function serveSftp(input, output) {
  const listings = new Map();
  const send = (type, ...parts) => {
    const body = Buffer.concat([Buffer.of(type), ...parts]);
    output.write(Buffer.concat([uint32(body.length), body]));
  };
  const status = (id, code, text = '') => send(101, id, uint32(code), string(text), string(''));
  const handlers = {
    3: (id, path) => send(102, id, string(String(openSync(path, 'r')))),
    4: (id, handle) => {
      if (!listings.delete(handle)) closeSync(Number(handle));
      status(id, 0);
    },
    5: (id, handle, rest) => {
      const bytes = Buffer.alloc(Math.min(LONGEST_READ, rest.readUInt32BE(8)));
      const count = readSync(Number(handle), bytes, 0, bytes.length, Number(rest.readBigUInt64BE(0)));
      if (count === 0) status(id, 1);
      else send(103, id, string(bytes.subarray(0, count)));
    },
    8: (id, handle) => send(105, id, attributes(fstatSync(Number(handle)))),
    11: (id, path) => {
      const handle = `directory ${listings.size}`;
      listings.set(handle, readdirSync(path));
      send(102, id, string(handle));
    },
    12: (id, handle) => {
      const names = listings.get(handle).splice(0, 2);
      if (names.length === 0) return status(id, 1);
      const entries = names.map((name) => Buffer.concat([string(name), string(name), uint32(0)]));
      send(104, id, uint32(names.length), ...entries);
    },
    13: (id, path) => {
      rmSync(path);
      status(id, 0);
    },
    16: (id, path) => send(104, id, uint32(1), string(realpathSync(path)), string(''), uint32(0)),
    17: (id, path) => send(105, id, attributes(statSync(path))),
    200: (id, name, rest) => {
      if (name !== 'statvfs@openssh.com') return status(id, 8);
      const path = rest.subarray(4, 4 + rest.readUInt32BE(0)).toString();
      const {bsize, blocks, bfree, bavail, files, ffree} = statfsSync(path);
      send(201, id, ...[bsize, bsize, blocks, bfree, bavail, files, ffree, ffree, 0, 0, 255].map(uint64));
    },
  };
  let received = Buffer.alloc(0);
  input.on('data', (chunk) => {
    received = Buffer.concat([received, chunk]);
    while (received.length >= 4 && received.length >= 4 + received.readUInt32BE(0)) {
      const length = received.readUInt32BE(0);
      handle(received.subarray(4, 4 + length));
      received = received.subarray(4 + length);
    }
  });

  function handle(packet) {
    const [type] = packet;
    if (type === 1) return send(2, uint32(3));
    const id = packet.subarray(1, 5);
    const length = packet.readUInt32BE(5);
    const text = packet.subarray(9, 9 + length).toString();
    try {
      handlers[type](id, text, packet.subarray(9 + length));
    } catch (error) {
      status(id, error.code === 'ENOENT' ? 2 : error.code === 'EACCES' ? 3 : 4, error.message);
    }
  }
}
