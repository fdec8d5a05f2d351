import {execFileSync} from 'node:child_process';
import {mkdir, writeFile} from 'node:fs/promises';
import {dirname, join} from 'node:path';
import {expect, test} from 'vitest';
import {
  dockerConfigFiles,
  NodeDockerConfigReader,
  type DockerConfigFile,
} from '../../../../../src/kubelet/managers/images/credentials/node-docker-config.js';
import {temporaryDirectory} from '../../../../base/temporary-directory.js';
import {FakeClock, TEST_TIME_MS} from '../../../../fakes/fake-clock.js';

test("the files are the kubelet's in its order, without those of the working directory", () => {
  const files = dockerConfigFiles({rootDir: '/var/lib/kcri', homeDir: '/root'});
  expect(files.map(({path}) => path)).toEqual([
    '/var/lib/kcri/config.json',
    '/root/.docker/config.json',
    '/.docker/config.json',
    '/var/lib/kcri/.dockercfg',
    '/root/.dockercfg',
    '/.dockercfg',
  ]);
  expect(files.map(({format}) => format === '.dockercfg')).toEqual(files.map((_, index) => index >= 3));
});

test('without HOME no home directory is searched', () => {
  const files = dockerConfigFiles({rootDir: '/r', homeDir: undefined});
  expect(files).toHaveLength(4);
});

/** Creates files in a temporary directory, and their reader. */
async function aReader(...contents: readonly string[]) {
  const dir = await temporaryDirectory();
  const files: readonly DockerConfigFile[] = ['a/config.json', 'b/config.json', '.dockercfg'].map((name) => ({
    path: join(dir, name),
    format: name === '.dockercfg' ? '.dockercfg' : 'config.json',
  }));
  const write = async (index: number, content: string): Promise<void> => {
    const path = files[index]?.path ?? '';
    await mkdir(dirname(path), {recursive: true});
    await writeFile(path, content);
  };
  for (const [index, content] of contents.entries()) if (content !== '') await write(index, content);
  const clock = new FakeClock({nowMs: TEST_TIME_MS, sleep: 'instant'});
  return {clock, write, files, reader: new NodeDockerConfigReader(files, clock)};
}

const LOGIN = {username: 'alice', password: 's'};
const CONFIG = JSON.stringify({auths: {'r.example': LOGIN}});

test('without files the config is empty', async () => {
  const {reader} = await aReader();
  expect(await reader.read()).toEqual({config: new Map(), problems: []});
});

test('the first file with logins is used; another program’s config.json and an invalid file are skipped', async () => {
  const {reader, files} = await aReader(
    '{"name": "not docker"}',
    '{"auths": "topsecret',
    JSON.stringify({'r.example': LOGIN}),
  );
  const {config, problems} = await reader.read();
  expect(config.get('r.example')).toEqual({...LOGIN, email: ''});
  expect(problems).toEqual([
    `skipped "${files[1]?.path ?? ''}": error occurred while trying to unmarshal json`,
  ]);
});

test.each(['mkfifo', 'mkdir'])(
  'a file that is not regular (%s) is skipped without waiting for it',
  async (make) => {
    const {reader, files} = await aReader('', CONFIG);
    const path = files[0]?.path ?? '';
    await mkdir(dirname(path), {recursive: true});
    execFileSync(make, [path]);
    const {config, problems} = await reader.read();
    expect(config.has('r.example')).toBe(true);
    expect(problems).toEqual([`skipped "${path}": not a regular file`]);
  },
);

test('the config is cached for five minutes', async () => {
  const {reader, clock, write} = await aReader('', CONFIG);
  const sizes: number[] = [];
  for (const passed of [0, 299_999, 1]) {
    clock.elapse(passed);
    sizes.push((await reader.read()).config.size);
    await write(0, JSON.stringify({auths: {'r.example': LOGIN, 's.example': LOGIN}}));
  }
  expect(sizes).toEqual([1, 1, 2]);
});
