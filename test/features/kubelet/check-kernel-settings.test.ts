import {mkdir, writeFile} from 'node:fs/promises';
import {dirname, join} from 'node:path';
import {expect, test} from 'vitest';
import {checkKernelSettings} from '../../../src/features/kubelet/check-kernel-settings.js';
import {temporaryDirectory} from '../../base/temporary-directory.js';

const EXPECTED = {
  'vm/overcommit_memory': '1\n',
  'vm/panic_on_oom': '0\n',
  'kernel/panic': '10\n',
  'kernel/panic_on_oops': '1\n',
  'kernel/keys/root_maxkeys': '1000000\n',
};

async function settings(values: Readonly<Record<string, string>>): Promise<string> {
  const directory = await temporaryDirectory();
  for (const [name, value] of Object.entries(values)) {
    await mkdir(dirname(join(directory, name)), {recursive: true});
    await writeFile(join(directory, name), value);
  }
  return directory;
}

test('the settings that a kubelet expects pass, and those that the kernel does not have', async () => {
  await expect(checkKernelSettings(await settings(EXPECTED))).resolves.toBeUndefined();
});

test.each([
  [{'kernel/panic': '0\n'}, 'invalid kernel flag: kernel/panic, expected value: 10, actual value: 0'],
  [
    {'kernel/panic': '0\n', 'vm/panic_on_oom': '1\n'},
    '[invalid kernel flag: vm/panic_on_oom, expected value: 0, actual value: 1, invalid kernel flag: kernel/panic, expected value: 10, actual value: 0]',
  ],
])('%j keep the kubelet from starting', async (values, message) => {
  const directory = await settings({...EXPECTED, ...values});
  await expect(checkKernelSettings(directory)).rejects.toThrow(message);
});
