import {once} from 'node:events';
import {connect, type Socket} from 'node:net';
import {Handshake} from '../../../src/base/dbus/handshake.js';
import {
  DBusMessageSplitter,
  encodeMessage,
  ERROR,
  METHOD_CALL,
  METHOD_RETURN,
  type DBusMessage,
} from '../../../src/base/dbus/message.js';

const BUS = {
  destination: 'org.freedesktop.DBus',
  path: '/org/freedesktop/DBus',
  interface: 'org.freedesktop.DBus',
};

/** A service on a message bus, which owns names and is called. */
export class FakeBusService implements Disposable {
  readonly socket: Socket;
  /** Called with each call of a method. */
  onCall: (call: DBusMessage) => void = () => undefined;
  readonly #splitter = new DBusMessageSplitter();
  #serial = 0;

  private constructor(socket: Socket) {
    this.socket = socket;
  }

  /** Connects to the bus and resolves when the names are owned. */
  static async start(busPath: string, names: readonly string[]): Promise<FakeBusService> {
    const socket = connect(busPath);
    await once(socket, 'connect');
    const service = new FakeBusService(socket);
    const handshake = new Handshake((bytes) => void socket.write(bytes));
    let isAccepted = false;
    await new Promise<void>((resolve) => {
      socket.on('data', (chunk: Buffer) => {
        if (isAccepted)
          for (const message of service.#splitter.push(chunk)) service.#receive(message, names, resolve);
        else if ((isAccepted = handshake.read(chunk))) service.#introduce(names);
      });
    });
    return service;
  }

  #introduce(names: readonly string[]): void {
    this.send({type: METHOD_CALL, ...BUS, member: 'Hello'});
    for (const name of names)
      this.send({type: METHOD_CALL, ...BUS, member: 'RequestName', signature: 'su', body: [name, 4]});
  }

  #receive(message: DBusMessage, names: readonly string[], ready: () => void): void {
    // The reply of the last RequestName; the first one is that of Hello.
    if (message.type === METHOD_RETURN && message.replySerial === names.length + 1) ready();
    if (message.type === METHOD_CALL) this.onCall(message);
  }

  send(message: Omit<DBusMessage, 'serial'>): void {
    this.socket.write(encodeMessage({serial: (this.#serial += 1), ...message}));
  }

  reply(call: DBusMessage, fields: Partial<DBusMessage> = {}): void {
    this.socket.write(this.encodeReply(call, fields));
  }

  replyError(call: DBusMessage, errorName: string, text: string): void {
    this.reply(call, {type: ERROR, errorName, signature: 's', body: [text]});
  }

  /** Returns the bytes of a reply, for one that is sent in another way. */
  encodeReply(call: DBusMessage, fields: Partial<DBusMessage>): Buffer {
    return encodeMessage({
      ...{type: METHOD_RETURN, serial: (this.#serial += 1), replySerial: call.serial},
      destination: call.sender ?? '',
      ...fields,
    });
  }

  [Symbol.dispose](): void {
    this.socket.destroy();
  }
}
