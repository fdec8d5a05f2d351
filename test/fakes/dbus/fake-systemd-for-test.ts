import {onTestFinished, vi} from 'vitest';
import {startSystemBus} from './fake-system-bus.js';
import {FakeSystemd, type FakeSystemdOptions} from './fake-systemd.js';

/** Starts a systemd on the system bus of this process until the end of the test. */
export async function startSystemdForTest(options: FakeSystemdOptions): Promise<FakeSystemd> {
  const bus = await startSystemBus();
  const systemd = await FakeSystemd.start(bus.path, options);
  vi.stubEnv('DBUS_SYSTEM_BUS_ADDRESS', bus.address);
  onTestFinished(async () => {
    vi.unstubAllEnvs();
    systemd[Symbol.dispose]();
    await bus[Symbol.asyncDispose]();
  });
  return systemd;
}
