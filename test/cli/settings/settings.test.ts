import {CRICTL_CONFIG_FILE_DIALECT} from '../../../src/cli/crictl/crictl-config-file.js';
import {writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {beforeEach, describe, expect, test} from 'vitest';
import {createKcriConfigFileDialect, parseConfigFile} from '../../../src/cli/settings/config-file.js';
import {createProcessContext} from '../../../src/cli/process/context.js';
import {CRICTL_SETTINGS_SOURCE} from '../../../src/cli/crictl/crictl-settings.js';
import {resolveSettings, resolveRootDir} from '../../../src/cli/settings/settings.js';
import {temporaryDirectory} from '../../base/temporary-directory.js';
import {UNCREATABLE_CONFIG_FILE} from '../uncreatable-path.js';

let folder: string;
beforeEach(async () => {
  folder = await temporaryDirectory();
});

async function settings(flags: object, env: Record<string, string>, file?: string) {
  const path = join(folder, 'crictl.yaml');
  if (file !== undefined) writeFileSync(path, file);
  const warnings: string[] = [];
  const onWarning = (text: string) => warnings.push(text);
  const context = {...createProcessContext(), env, defaultConfigFile: path};
  return {...(await resolveSettings({...flags}, context, {onWarning})), warnings};
}

describe('settings are read from flag, environment, file and defaults:', () => {
  const FILE = 'runtime-endpoint: unix:///file\ntimeout: 7\n';
  const ENV = {CONTAINER_RUNTIME_ENDPOINT: 'unix:///env'};

  test.each([
    [{'runtime-endpoint': 'unix:///flag'}, ENV, FILE, 'unix:///flag'],
    [{}, ENV, FILE, 'unix:///env'],
    [{}, {}, FILE, 'unix:///file'],
    [{}, {}, 'runtime-endpoint: ""\n', undefined],
    [{}, {}, undefined, undefined],
  ])('the endpoint of %j, %j, %j is %s', async (flags, env: Record<string, string>, file, endpoint) => {
    expect((await settings(flags, env, file)).runtimeEndpoint).toBe(endpoint);
  });

  test.each([
    [{timeout: 1500}, FILE, 1500],
    [{timeout: -1}, FILE, 120_000],
    [{}, FILE, 7000],
    [{}, 'timeout: 0\n', 120_000],
    [{}, undefined, 120_000],
  ])('the timeout of %j and %j is %d ms', async (flags, file, ms) => {
    expect((await settings(flags, {}, file)).timeoutMs).toBe(ms);
  });

  test('the config file of the flag overrides that of the environment', async () => {
    const [a, b] = [join(folder, 'a'), join(folder, 'b')];
    writeFileSync(a, 'image-endpoint: unix:///a');
    writeFileSync(b, 'image-endpoint: unix:///b');
    expect((await settings({config: a}, {CRI_CONFIG_FILE: b})).imageEndpoint).toBe('unix:///a');
    expect((await settings({}, {CRI_CONFIG_FILE: b})).imageEndpoint).toBe('unix:///b');
  });

  test('an empty endpoint is distinguished from a missing one', async () => {
    expect((await settings({}, {CONTAINER_RUNTIME_ENDPOINT: ''})).runtimeEndpoint).toBe('');
    expect((await settings({'runtime-endpoint': ''}, {})).runtimeEndpoint).toBe('');
    expect((await settings({}, {}, 'runtime-endpoint: ""\n')).runtimeEndpoint).toBeUndefined();
  });

  test('a missing config file is an error only if it was given', async () => {
    expect(await settings({}, {})).toMatchObject({debug: false, warnings: []});
    await expect(settings({config: join(folder, 'none')}, {})).rejects.toThrow(
      /^get server config: reading ".*none": no such file or directory$/,
    );
    await expect(settings({}, {CRI_CONFIG_FILE: folder})).rejects.toThrow(
      /illegal operation on a directory$/,
    );
  });

  test("the file in the program's directory is the second choice", async () => {
    writeFileSync(join(folder, 'crictl.yaml'), 'timeout: 9');
    const context = {
      ...createProcessContext(),
      env: {},
      defaultConfigFile: UNCREATABLE_CONFIG_FILE,
      program: ['node', join(folder, 'kcri')],
    };
    expect((await resolveSettings({}, context, {onWarning: () => undefined})).timeoutMs).toBe(9000);
  });

  test('debug and max-retries are read from flag, file and defaults', async () => {
    const file = 'debug: true\nmax-retries: -1\n';
    expect(await settings({}, {}, file)).toMatchObject({debug: true, maxRetries: Infinity});
    expect(await settings({debug: false, 'max-retries': 2}, {}, file)).toMatchObject({
      debug: false,
      maxRetries: 2,
    });
    expect(await settings({}, {}, 'timeout: 1')).toMatchObject({debug: false, maxRetries: 0});
    expect((await settings({}, {})).maxRetries).toBe(0);
  });

  test('an unknown option is reported and ignored', async () => {
    const {timeoutMs, warnings} = await settings({}, {}, 'timeuot: 3\ntimeout: 4');
    expect(timeoutMs).toBe(4000);
    expect(warnings).toEqual([
      expect.stringMatching(/: unknown option "timeuot"; did you mean "timeout"\?$/),
    ]);
  });

  test.each([
    ['a: 1\nb: 2\nc: 3\n', ['unknown option "a"', '2 more unknown options']],
    ['timeout: 1\nb: 2\nc: 3\n', ['unknown option "b"', 'unknown option "c"']],
  ])('of %j, a file without a known option is quoted only once', async (text, expected) => {
    const {warnings} = await settings({}, {}, text);
    expect(warnings.map((warning) => warning.replace(/^.*yaml: /, ''))).toEqual(expected);
  });

  test.each(['', '# nothing', 'null', '~', '[]', '{}', '---'])('the file %j has no options', async (text) => {
    for (const dialect of [CRICTL_CONFIG_FILE_DIALECT, createKcriConfigFileDialect(() => undefined)])
      expect(await parseConfigFile(text, dialect)).toEqual({});
  });

  test.each([
    'timeout: 5\n---\ntimeout: 6\n',
    '{"timeout": 5}\n{"timeout": 6}',
    '---\ntimeout: 5\n...\nx: [',
  ])('the first document of %j counts', async (text) => {
    for (const dialect of [CRICTL_CONFIG_FILE_DIALECT, createKcriConfigFileDialect(() => undefined)])
      expect(await parseConfigFile(text, dialect)).toEqual({timeout: 5});
  });

  test.each(['text', '5', 'root:x:0:0:root\ndaemon:x:1:1'])('crictl finds no options in %j', async (text) => {
    expect(await parseConfigFile(text, CRICTL_CONFIG_FILE_DIALECT)).toEqual({});
    const own = parseConfigFile(
      text,
      createKcriConfigFileDialect(() => undefined),
    );
    await expect(own).rejects.toThrow('must contain lines "option: value"');
  });

  test('crictl takes the items of a list for options and values', async () => {
    expect(await parseConfigFile('[timeout, 5, debug]', CRICTL_CONFIG_FILE_DIALECT)).toEqual({timeout: 5});
    await expect(parseConfigFile('[a, b]', CRICTL_CONFIG_FILE_DIALECT)).rejects.toThrow(
      "Config option 'a' is not valid",
    );
  });

  test('a warning or an error shortens what it quotes of the file', async () => {
    const long = 'x'.repeat(900);
    const {warnings} = await settings({}, {}, `${long}: 3`);
    expect(warnings).toEqual([expect.stringMatching(/unknown option "x{99}…"$/)]);
    for (const wrong of [`timeout: ${long}`, `timeout: |${long}`])
      await expect(settings({}, {}, wrong)).rejects.toThrow(/^.{50,400}$/);
  });

  test('every option has its source', async () => {
    const {options} = await settings({timeout: 1500}, ENV, 'image-endpoint: unix:///i');
    expect(options.slice(0, 4)).toEqual([
      {key: 'runtime-endpoint', value: 'unix:///env', source: '$CONTAINER_RUNTIME_ENDPOINT'},
      {key: 'image-endpoint', value: 'unix:///i', source: join(folder, 'crictl.yaml')},
      {key: 'timeout', value: 1.5, source: '--timeout'},
      {key: 'debug', value: false, source: 'default'},
    ]);
  });

  test('the root directory is read from flag, environment and default', () => {
    expect(resolveRootDir({'root-dir': '/f'}, {KCRI_ROOT_DIR: '/e'})).toBe('/f');
    expect(resolveRootDir({}, {KCRI_ROOT_DIR: '/e'})).toBe('/e');
    expect(resolveRootDir({}, {})).toBe('/var/lib/kcri');
  });
});

describe("crictl's dialect", () => {
  async function compat(flags: object, file?: string) {
    const path = join(folder, 'crictl.yaml');
    if (file !== undefined) writeFileSync(path, file);
    const context = {...createProcessContext(), env: {}, program: ['/nowhere/kcri']};
    const source = CRICTL_SETTINGS_SOURCE;
    const warnings: string[] = [];
    const onWarning = (text: string) => warnings.push(text);
    const settings = await resolveSettings(
      {...flags},
      {...context, defaultConfigFile: path},
      {onWarning, source},
    );
    return {...settings, warnings};
  }

  test('a missing file is reported, with other defaults than those of an empty file', async () => {
    const warning = `Config "${join(folder, 'crictl.yaml')}" does not exist, trying next: "/nowhere/crictl.yaml"`;
    expect(await compat({})).toMatchObject({timeoutMs: 2000, maxRetries: 3, warnings: [warning]});
    expect(await compat({}, '')).toMatchObject({timeoutMs: 2000, maxRetries: 0, warnings: []});
  });

  test('an invalid file is an error only if it was given', async () => {
    expect(await compat({}, 'foo: 1')).toMatchObject({maxRetries: 3, warnings: []});
    await expect(compat({config: join(folder, 'crictl.yaml')})).rejects.toThrow(
      /^get server config: load config file: Config option 'foo' is not valid$/,
    );
    await expect(compat({config: '/nonexistent'})).rejects.toThrow(
      'get server config: load config file: stat /nowhere/crictl.yaml: no such file or directory',
    );
  });
});

const OWN = createKcriConfigFileDialect((warning) => {
  throw new Error(warning);
});

describe('parseConfigFile', () => {
  test('parses everything that crictl writes', async () => {
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
    expect(await parseConfigFile(text, OWN)).toEqual({
      'runtime-endpoint': 'unix:///run/a b.sock',
      'image-endpoint': 'unix:///i',
      timeout: 10,
      debug: true,
      'pull-image-on-create': false,
      'disable-pull-on-run': true,
      'max-retries': 3,
    });
  });

  test('parses an empty file', async () => {
    expect(await parseConfigFile('', OWN)).toEqual({});
  });

  test.each([
    ['{"timeout": "7", "debug": "true", "runtime-endpoint": "unix:///r"}'],
    ['{timeout: 7, debug: true,\n  runtime-endpoint: unix:///r}'],
    ['  timeout: 7\n  debug: "true"\n  runtime-endpoint: "unix:\\/\\/\\/r"'],
    ["timeout: '7'\ndebug: 1\nruntime-endpoint:\n  unix:///r"],
    ['timeout: &t 7\ndebug: !!bool true\nruntime-endpoint: >-\n  unix:///r\n'],
    ['timeout: 7s\ndebug: True\nruntime-endpoint: unix:///r\nimage-endpoint:\nmax-retries: ~'],
  ])('parses %j', async (text) => {
    const expected = {timeout: 7, debug: true, 'runtime-endpoint': 'unix:///r'};
    expect(await parseConfigFile(text, OWN)).toEqual(expected);
  });

  test('uses the last of duplicate keys', async () => {
    expect(await parseConfigFile('timeout: 1\ntimeout: 2', OWN)).toEqual({timeout: 2});
    expect(await parseConfigFile('{timeout: 1, timeout: 2}', OWN)).toEqual({timeout: 2});
  });

  test.each([
    [
      'timeout: 2x',
      `invalid value "2x" of option "timeout": must be a number of seconds or a duration such as 1m30s`,
    ],
    ['max-retries: 2s', `invalid value "2s" of option "max-retries": must be an integer`],
    ['debug: maybe', `invalid value "maybe" of option "debug": must be true or false`],
    ['just text', 'must contain lines "option: value"'],
    ['- a', 'must contain lines "option: value"'],
    ['a: [', 'Flow sequence in block collection'],
  ])('rejects %j', async (text, message) => {
    await expect(parseConfigFile(text, OWN)).rejects.toThrow(message);
  });

  test.each([
    ['foo: 1', "Config option 'foo' is not valid"],
    ['timeout: 2s', `parsing config option 'timeout': strconv.Atoi: parsing "2s": invalid syntax`],
    ['timeout:', `parsing config option 'timeout': strconv.Atoi: parsing "": invalid syntax`],
    ['debug: maybe', `parsing config option 'debug': strconv.ParseBool: parsing "maybe": invalid syntax`],
  ])("rejects %j with crictl's message", async (text, message) => {
    await expect(parseConfigFile(text, CRICTL_CONFIG_FILE_DIALECT)).rejects.toThrow(message);
  });
});
