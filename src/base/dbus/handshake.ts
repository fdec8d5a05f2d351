import {SystemError} from '../errors.js';

/** Longest line of the authentication. */
const MAX_LINE_BYTES = 1024;

/**
 * Authentication of a client by its user ID, before the first message (D-Bus Specification, Authentication Protocol). It asks for
 * file descriptors to be passed: without that, a bus drops messages that have some.
 */
export class Handshake {
  readonly #write: (bytes: Buffer) => void;
  #text = '';
  #state: 'authenticating' | 'negotiating' | 'done' = 'authenticating';

  constructor(write: (bytes: Buffer) => void) {
    this.#write = write;
    const uid = Buffer.from(String(process.getuid?.() ?? 0)).toString('hex');
    write(Buffer.from(`\0AUTH EXTERNAL ${uid}\r\n`));
  }

  /** Reads answers of the bus. Returns true when it has accepted the client. Throws SystemError if it refuses it. */
  read(chunk: Uint8Array): boolean {
    this.#text += Buffer.from(chunk).toString('latin1');
    if (this.#text.length > MAX_LINE_BYTES) throw new SystemError('dbus: authentication protocol error');
    for (let end = this.#text.indexOf('\r\n'); end !== -1; end = this.#text.indexOf('\r\n')) {
      const line = this.#text.slice(0, end);
      this.#text = this.#text.slice(end + 2);
      this.#answer(line);
    }
    return this.#state === 'done';
  }

  #answer(line: string): void {
    if (this.#state === 'authenticating') {
      if (!line.startsWith('OK ')) throw new SystemError('dbus: authentication failed');
      this.#state = 'negotiating';
      this.#write(Buffer.from('NEGOTIATE_UNIX_FD\r\n'));
      return;
    }
    if (line !== 'AGREE_UNIX_FD') throw new SystemError('dbus: the bus does not pass file descriptors');
    this.#state = 'done';
    this.#write(Buffer.from('BEGIN\r\n'));
  }
}
