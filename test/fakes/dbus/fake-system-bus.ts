import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {rm, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {createInterface} from 'node:readline';
import {temporaryDirectory} from '../../base/temporary-directory.js';

/** A private bus: a real dbus-daemon on a socket of its own. */
export interface FakeSystemBus extends AsyncDisposable {
  readonly address: string;
  readonly path: string;
}

/** Starts a bus on which every client may own and call everything. */
export async function startSystemBus(path?: string): Promise<FakeSystemBus> {
  const directory = await temporaryDirectory();
  const socket = path ?? join(directory, 'bus');
  const config = join(directory, 'bus.conf');
  await writeFile(config, configOf(socket));
  const daemon = spawn('dbus-daemon', [`--config-file=${config}`, '--nofork', '--print-address=1'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  // Fake clocks wait for the end of other programs.
  daemon.unref();
  const closed = once(daemon, 'close');
  await once(createInterface({input: daemon.stdout}), 'line');
  return {
    address: `unix:path=${socket}`,
    path: socket,
    [Symbol.asyncDispose]: async () => {
      daemon.kill();
      await closed;
      await rm(socket, {force: true});
    },
  };
}

function configOf(socket: string): string {
  return `<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <listen>unix:path=${socket}</listen>
  <auth>EXTERNAL</auth>
  <policy context="default">
    <allow send_destination="*" eavesdrop="true"/>
    <allow eavesdrop="true"/>
    <allow own="*"/>
    <allow user="*"/>
  </policy>
</busconfig>
`;
}
