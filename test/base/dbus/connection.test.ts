import {expect, test} from 'vitest';
import {DBusConnection} from '../../../src/base/dbus/connection.js';
import {FakeLogind} from '../../fakes/dbus/fake-logind.js';
import {startSystemBus} from '../../fakes/dbus/fake-system-bus.js';
import {until} from '../until.js';

const LOGIND = {
  destination: 'org.freedesktop.login1',
  path: '/org/freedesktop/login1',
  interface: 'org.freedesktop.login1.Manager',
};
const INHIBIT = {...LOGIND, member: 'Inhibit', signature: 'ssss', body: ['shutdown', 'me', 'why', 'delay']};
const {signal} = new AbortController();

test('a descriptor in an unread reply is held until the connection is closed', async () => {
  await using bus = await startSystemBus();
  await using logind = await FakeLogind.start(bus.path);
  const connection = await DBusConnection.open(bus.address, signal);
  expect(await connection.holdReply(INHIBIT, signal)).toBe(true);
  expect(logind.log).toEqual(['Inhibit what="shutdown" who="me" why="why" mode="delay"']);
  connection[Symbol.dispose]();
  await until(() => logind.log.includes('inhibitor lock released'));
});

test('an error instead of a descriptor is an error of the call', async () => {
  await using bus = await startSystemBus();
  await using _logind = await FakeLogind.start(bus.path, {inhibitError: 'Permission denied'});
  using connection = await DBusConnection.open(bus.address, signal);
  await expect(connection.holdReply(INHIBIT, signal)).rejects.toThrow(/^Permission denied$/);
});

test('a property is read, and an unknown service is an error in the words of the bus', async () => {
  await using bus = await startSystemBus();
  await using _logind = await FakeLogind.start(bus.path);
  using connection = await DBusConnection.open(`${bus.address},guid=00`, signal);
  const get = {
    ...LOGIND,
    interface: 'org.freedesktop.DBus.Properties',
    member: 'Get',
    signature: 'ss',
    body: [LOGIND.interface, 'InhibitDelayMaxUSec'],
  };
  expect(await connection.call(get, signal)).toEqual([{signature: 't', value: 30_000_000n}]);
  await expect(connection.call({...get, destination: 'org.example.None'}, signal)).rejects.toThrow(
    'The name org.example.None was not provided by any .service files',
  );
});

test('signals that match a rule arrive, and the end of the bus is noticed', async () => {
  const bus = await startSystemBus();
  await using logind = await FakeLogind.start(bus.path);
  using connection = await DBusConnection.open(bus.address, signal);
  const seen: (readonly [string | undefined, unknown])[] = [];
  let isLost = false;
  connection.onLost = () => {
    isLost = true;
  };
  connection.onSignal = ({member, body}) => void seen.push([member, body]);
  await connection.addMatch(`type='signal',interface='${LOGIND.interface}'`, signal);
  logind.prepareForShutdown(true);
  await until(() => seen.some(([member]) => member === 'PrepareForShutdown'));
  expect(seen.at(-1)).toEqual(['PrepareForShutdown', [true]]);
  await bus[Symbol.asyncDispose]();
  await until(() => isLost);
  await expect(connection.addMatch('', signal)).rejects.toThrow('dbus: connection closed by the message bus');
});

test.each([
  ['unix:path=/nonexistent/bus', 'dial unix /nonexistent/bus: connect: no such file or directory'],
  ['tcp:host=localhost', 'dbus: invalid bus address (no transport): "tcp:host=localhost"'],
])('%s cannot be connected to', async (address, message) => {
  await expect(DBusConnection.open(address, signal)).rejects.toThrow(message);
});
