import {mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterEach, beforeEach, describe, expect, test} from 'vitest';
import {parseConfigFile} from '../../src/cli/config-file.js';
import {processContext} from '../../src/cli/context.js';
import {resolveSettings, rootDir} from '../../src/cli/settings.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kcri-settings-'));
});
afterEach(() => {
  rmSync(folder, {recursive: true});
});

function settings(flags: object, env: Record<string, string>, file?: string) {
  const path = join(folder, 'crictl.yaml');
  if (file !== undefined) writeFileSync(path, file);
  return resolveSettings({...flags}, {...processContext(), env, defaultConfigFile: path});
}

describe('a setting comes from the flag, the environment, the file, the default', () => {
  const FILE = 'runtime-endpoint: unix:///file\ntimeout: 7\n';
  const ENV = {CONTAINER_RUNTIME_ENDPOINT: 'unix:///env'};

  test.each([
    [{'runtime-endpoint': 'unix:///flag'}, ENV, FILE, 'unix:///flag'],
    [{}, ENV, FILE, 'unix:///env'],
    [{}, {}, FILE, 'unix:///file'],
    [{}, {}, 'runtime-endpoint: ""\n', undefined],
    [{}, {}, undefined, undefined],
  ])('endpoint of %j, %j, %j is %s', (flags, env: Record<string, string>, file, endpoint) => {
    expect(settings(flags, env, file).runtimeEndpoint).toBe(endpoint);
  });

  test.each([
    [{timeout: 1500}, FILE, 1500],
    [{timeout: -1}, FILE, 120_000],
    [{}, FILE, 7000],
    [{}, 'timeout: 0\n', 120_000],
    [{}, undefined, 120_000],
  ])('timeout of %j and %j is %d ms', (flags, file, ms) => {
    expect(settings(flags, {}, file).timeoutMs).toBe(ms);
  });

  test('the config file is named by the flag before the environment', () => {
    const [a, b] = [join(folder, 'a'), join(folder, 'b')];
    writeFileSync(a, 'image-endpoint: unix:///a');
    writeFileSync(b, 'image-endpoint: unix:///b');
    expect(settings({config: a}, {CRI_CONFIG_FILE: b}).imageEndpoint).toBe('unix:///a');
    expect(settings({}, {CRI_CONFIG_FILE: b}).imageEndpoint).toBe('unix:///b');
  });

  test('an endpoint that is given and empty is an error', () => {
    expect(() => settings({}, {CONTAINER_RUNTIME_ENDPOINT: ''})).toThrow('--runtime-endpoint is not set');
    expect(() => settings({'runtime-endpoint': ''}, {})).toThrow('--runtime-endpoint is not set');
  });

  test('a missing file is an error only when it was named', () => {
    expect(settings({}, {}).debug).toBe(false);
    expect(() => settings({config: join(folder, 'none')}, {})).toThrow(/^get server config: .*no such file/);
    expect(() => settings({}, {CRI_CONFIG_FILE: folder})).toThrow(/^get server config: .*EISDIR/);
  });

  test('the root directory comes from the flag, the environment, the default', () => {
    expect(rootDir({'root-dir': '/f'}, {KCRI_ROOT_DIR: '/e'})).toBe('/f');
    expect(rootDir({}, {KCRI_ROOT_DIR: '/e'})).toBe('/e');
    expect(rootDir({}, {})).toBe('/var/lib/kcri');
  });
});

describe('parseConfigFile', () => {
  test('reads all that crictl writes', () => {
    const text = [
      '# comment',
      '---',
      'runtime-endpoint: "unix:///run/a b.sock" # why',
      "image-endpoint: 'unix:///i'",
      'timeout: 10',
      'debug: true',
      'pull-image-on-create: false',
      'disable-pull-on-run: True',
      'max-retries: 3\r',
      '',
    ].join('\n');
    expect(parseConfigFile(text)).toEqual({
      'runtime-endpoint': 'unix:///run/a b.sock',
      'image-endpoint': 'unix:///i',
      timeout: 10,
      debug: true,
      'pull-image-on-create': false,
      'disable-pull-on-run': true,
      'max-retries': 3,
    });
  });

  test('an empty file has no settings', () => {
    expect(parseConfigFile('')).toEqual({});
  });

  test('the last of two equal keys counts', () => {
    expect(parseConfigFile('timeout: 1\ntimeout: 2')).toEqual({timeout: 2});
  });

  test.each([
    ['foo: 1', "Config option 'foo' is not valid"],
    ['timeout: 2s', `the value of 'timeout' is not a whole number: "2s"`],
    ['debug: maybe', `the value of 'debug' is neither true nor false: "maybe"`],
    ['just text', 'the line "just text" is not "key: value"'],
  ])('%j is refused', (text, message) => {
    expect(() => parseConfigFile(text)).toThrow(message);
  });
});
