import {spawn, type ChildProcess} from 'node:child_process';
import {once} from 'node:events';
import {existsSync} from 'node:fs';
import {readFile} from 'node:fs/promises';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {containerId} from '../../../src/cri/index.js';
import {until} from '../../base/until.js';
import {compileExample} from '../harness/compile-example.js';
import {startKubeletTestbed, type KubeletTestbed} from '../harness/kubelet-testbed.js';
import {newestRuntime} from '../harness/runtimes-under-test.js';

const EXAMPLE = fileURLToPath(new URL('../../../examples/device-plugin', import.meta.url));

describe.each(newestRuntime)('the example of a device plugin: $name', (which) => {
  let testbed: KubeletTestbed;
  let directory: string;
  let plugin: ChildProcess | undefined;
  let output = '';
  const registrations = (): number => output.split('registered example.com/slot').length - 1;
  beforeAll(async () => {
    testbed = await startKubeletTestbed(which, 'n1');
    directory = join(testbed.podTestbed.runtime.rootDir, 'device-plugins');
  });
  afterAll(async () => {
    plugin?.kill('SIGKILL');
    await testbed[Symbol.asyncDispose]();
  });

  const running = async (name: string): Promise<string | undefined> => {
    const pod = await testbed.podTestbed.find(`${name}-n1`);
    return pod?.containers.find(({state}) => state === 'CONTAINER_RUNNING')?.id;
  };
  const slotOf = async (name: string): Promise<string> => {
    await until(async () => (await running(name)) !== undefined);
    const id = containerId((await running(name)) ?? '');
    return await testbed.podTestbed.exec(id, 'sh', '-c', 'head -c 4 /dev/$SLOTS | wc -c; echo $SLOTS');
  };

  test('its pods get their devices in the container, across kills of the kubelet and the plugin', async () => {
    const pod = await readFile(join(EXAMPLE, 'pod.yaml'), 'utf8');
    const {kcri} = await testbed.start();
    await until(() => existsSync(join(directory, 'kubelet.sock')));
    plugin = spawn(process.execPath, [await compileExample('device-plugin/plugin.ts'), directory], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    plugin.stdout?.setEncoding('utf8').on('data', (text: string) => (output += text));
    await until(() => registrations() === 1);
    await testbed.put('slot-user', pod);
    expect(await slotOf('slot-user')).toBe('4\nslot-0');

    kcri.kill('SIGKILL');
    await kcri.exited;
    await testbed.start();
    await until(() => registrations() >= 2);
    await testbed.put('second', pod.replace('slot-user', 'second'));
    expect(await slotOf('second')).toBe('4\nslot-1');

    plugin.kill('SIGKILL');
    await once(plugin, 'exit');
    expect(await running('slot-user')).toBeDefined();
  });
});
