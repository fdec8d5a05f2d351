import {constants} from 'node:os';
import type {Readable, Writable} from 'node:stream';
import {SystemError} from '../../base/errors.js';
import {
  encodePacket,
  PACKET,
  PacketReader,
  PacketSplitter,
  STATUS,
  type Field,
  type FileAttributes,
} from './sftp-packets.js';

/** Version of the protocol that every server speaks. */
const VERSION = 3;
const READ_ONLY = 1;
/** Number of bytes that every server returns at once. */
const READ_BYTES = 32 * 1024;

/** Extension that returns the space of a file system. */
const STATVFS = 'statvfs@openssh.com';

/** Space of a file system. */
export interface FileSystemSpace {
  readonly bytes: number;
  readonly availableBytes: number;
  readonly inodes: number;
  readonly freeInodes: number;
}

/** Stream of a session with an SFTP server. */
export interface SftpStream {
  readonly stdin: Writable;
  readonly stdout: Readable;
}

type Pending = {
  readonly resolve: (packet: Response) => void;
  readonly reject: (error: Error) => void;
};

interface Response {
  readonly type: number;
  readonly reader: PacketReader;
}

/**
 * A client of the SSH file transfer protocol that reads files. Paths are data of the protocol, so that no shell sees
 * them. Errors have the codes of system errors: ENOENT, EACCES, EIO.
 */
export class SftpClient {
  readonly #stream: SftpStream;
  readonly #pending = new Map<number, Pending>();
  #nextId = 1;
  #failure: Error | undefined;
  #ready: (() => void) | undefined;

  private constructor(stream: SftpStream) {
    this.#stream = stream;
    const splitter = new PacketSplitter();
    stream.stdout.on('data', (chunk: Buffer) => {
      try {
        for (const packet of splitter.push(chunk)) this.#take(packet);
      } catch (error) {
        if (!(error instanceof RangeError)) throw error;
        this.fail(protocolError(error.message));
      }
    });
  }

  /** Opens a session; `ended` rejects with the reason when the stream is lost. */
  static async open(stream: SftpStream, ended: Promise<never>): Promise<SftpClient> {
    const client = new SftpClient(stream);
    ended.catch((error: unknown) => {
      client.fail(error as Error);
    });
    const ready = new Promise<void>((resolve) => (client.#ready = resolve));
    stream.stdin.write(encodePacket(PACKET.init, [VERSION]));
    await Promise.race([ready, ended]);
    return client;
  }

  /** Rejects all requests with the error, now and later. */
  fail(error: Error): void {
    this.#failure ??= error;
    for (const {reject} of this.#pending.values()) reject(this.#failure);
    this.#pending.clear();
  }

  /** Opens a file for reading. */
  async open(path: string): Promise<Buffer> {
    const response = await this.#request(PACKET.open, [path, READ_ONLY, 0], PACKET.handle, path);
    return parse(response, (reader) => Buffer.from(reader.string()));
  }

  /** Fills the buffer from an offset of an open file, up to its end. Returns the number of bytes. */
  async read(handle: Buffer, into: Buffer, position: number): Promise<number> {
    let total = 0;
    while (total < into.length) {
      const count = await this.#readOnce(handle, into.subarray(total), position + total);
      if (count === 0) break;
      total += count;
    }
    return total;
  }

  /** Returns the attributes of an open file. */
  async attributesOf(handle: Buffer): Promise<FileAttributes> {
    return parse(await this.#request(PACKET.fstat, [handle], PACKET.attributes), (reader) =>
      reader.attributes(),
    );
  }

  /** Returns the attributes of the file at the path, following links. */
  async stat(path: string): Promise<FileAttributes> {
    return parse(await this.#request(PACKET.stat, [path], PACKET.attributes, path), (reader) =>
      reader.attributes(),
    );
  }

  /** Returns the space of the file system of a path, with an extension of OpenSSH's server (PROTOCOL, statvfs@openssh.com). */
  async space(path: string): Promise<FileSystemSpace> {
    const response = await this.#request(PACKET.extended, [STATVFS, path], PACKET.extendedReply, path);
    return parse(response, (reader) => {
      const numbers = Array.from({length: 8}, () => reader.uint64());
      const [, unit = 0, blocks = 0, , available = 0, inodes = 0, freeInodes = 0] = numbers;
      return {bytes: blocks * unit, availableBytes: available * unit, inodes, freeInodes};
    });
  }

  /** Returns the path without links. */
  async realpath(path: string): Promise<string> {
    const response = await this.#request(PACKET.realpath, [path], PACKET.name, path);
    return parse(response, (reader) => (reader.uint32() === 0 ? path : reader.string().toString()));
  }

  /** Returns the names in a directory. */
  async list(directory: string): Promise<readonly string[]> {
    const response = await this.#request(PACKET.opendir, [directory], PACKET.handle, directory);
    const handle = parse(response, (reader) => Buffer.from(reader.string()));
    const names: string[] = [];
    try {
      for (let more = await this.#listMore(handle); more !== undefined; more = await this.#listMore(handle))
        names.push(...more);
    } finally {
      await this.close(handle);
    }
    return names.filter((name) => name !== '.' && name !== '..');
  }

  /** Removes a file. */
  async remove(path: string): Promise<void> {
    await this.#request(PACKET.remove, [path], PACKET.status, path);
  }

  /** Closes an open file or directory. */
  async close(handle: Buffer): Promise<void> {
    await this.#request(PACKET.close, [handle], PACKET.status);
  }

  /** Requests all parts at once. A part that is shorter than requested is the last that counts. */
  async #readOnce(handle: Buffer, into: Buffer, position: number): Promise<number> {
    const parts: Promise<number>[] = [];
    for (let at = 0; at < into.length; at += READ_BYTES)
      parts.push(this.#readPart(handle, into.subarray(at, at + READ_BYTES), position + at));
    const counts = await Promise.all(parts);
    const short = counts.findIndex((count) => count < READ_BYTES);
    return (short === -1 ? counts : counts.slice(0, short + 1)).reduce((sum, count) => sum + count, 0);
  }

  async #readPart(handle: Buffer, into: Buffer, position: number): Promise<number> {
    const fields = [handle, BigInt(position), into.length];
    const response = await this.#request(PACKET.read, fields, PACKET.data);
    if (response.type !== PACKET.data) return 0;
    return parse(response, (reader) => reader.string().copy(into));
  }

  async #listMore(handle: Buffer): Promise<readonly string[] | undefined> {
    const response = await this.#request(PACKET.readdir, [handle], PACKET.name);
    if (response.type !== PACKET.name) return undefined;
    return parse(response, (reader) => {
      const names: string[] = [];
      for (let left = reader.uint32(); left > 0; left -= 1) {
        names.push(reader.string().toString());
        reader.string();
        reader.attributes();
      }
      return names;
    });
  }

  /** Resolves with a response of the expected type, or the status of an end of file. */
  async #request(type: number, fields: readonly Field[], expected: number, path?: string): Promise<Response> {
    if (this.#failure !== undefined) throw this.#failure;
    const id = this.#nextId++ >>> 0;
    const response = await new Promise<Response>((resolve, reject) => {
      this.#pending.set(id, {resolve, reject});
      this.#stream.stdin.write(encodePacket(type, [id, ...fields]));
    });
    if (response.type === PACKET.status)
      parse(response, (reader) => {
        checkStatus(reader, path);
      });
    else if (response.type !== expected) throw protocolError(`unexpected packet ${response.type}`);
    return response;
  }

  #take(packet: Buffer): void {
    const type = packet[0] ?? 0;
    if (type === PACKET.version) {
      this.#ready?.();
      return;
    }
    const reader = new PacketReader(packet.subarray(1));
    const id = reader.uint32();
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    pending?.resolve({type, reader});
  }
}

/** Reads the fields of a response. Throws SystemError if they are incomplete. */
function parse<T>({reader}: Response, read: (reader: PacketReader) => T): T {
  try {
    return read(reader);
  } catch (error) {
    if (error instanceof RangeError) throw protocolError(error.message);
    throw error;
  }
}

function protocolError(reason: string): SystemError {
  return new SystemError(`invalid response of the node's SFTP server: ${reason}`);
}

const {errno} = constants;

/** Throws an error like that of a system call for a status other than success and the end of a file. */
function checkStatus(reader: PacketReader, path: string | undefined): void {
  const status = reader.uint32();
  if (status === STATUS.ok || status === STATUS.endOfFile) return;
  if (status === STATUS.unsupported)
    throw new SystemError("the node's SFTP server does not support the request");
  const code =
    status === STATUS.noSuchFile ? 'ENOENT' : status === STATUS.permissionDenied ? 'EACCES' : 'EIO';
  throw Object.assign(new Error(reader.string().toString()), {
    code,
    errno: -errno[code],
    syscall: 'sftp',
    path,
  });
}
