import {describe, expect, test} from 'vitest';
import {isCrictlCommand} from '../../../src/cli/crictl/crictl-commands.js';
import {COMMAND_ALIASES, commandNames, findCommand} from '../../../src/cli/catalog/find-command.js';
import {GLOBAL_FLAGS} from '../../../src/cli/flags/global-flags.js';

/** Flags of crictl 1.36: `name`, `name/letter` or `name/alias`. kcri has additional flags. */
const CRICTL: Readonly<Record<string, string>> = {
  checkpoint: 'export/e',
  create: 'no-pull with-pull cancel-timeout/T creds auth username/u pull-timeout/pt',
  events: 'output/o template',
  exec:
    'sync/s timeout tty/t interactive/i name pod/p image state label latest/l last/n quiet/q ignore-errors/e ' +
    'parallel/x',
  imagefsinfo: 'output/o template',
  images: 'verbose/v quiet/q filter/f output/o digests no-trunc pinned',
  info: 'output/o quiet/q template',
  inspect: 'output/o quiet/q template name namespace pod/p image state/s label latest/l last/n all/a',
  inspecti: 'output/o quiet/q template name filter/f',
  inspectp: 'output/o quiet/q template name namespace state/s label latest/l last/n',
  logs: 'follow/f previous/p reopen/r tail limit-bytes since timestamps/t stream/s',
  metricdescs: 'output/o',
  metricsp: 'output/o watch/w',
  pods: 'id name namespace state/s label verbose/v quiet/q output/o latest/l last/n no-trunc',
  ps:
    'verbose/v id name pod/p image state/s label quiet/q output/o all/a latest/l last/n no-trunc ' +
    'resolve-image-path/r namespace',
  pull: 'creds auth username/u pull-timeout/pt pod-config annotation/a',
  rm: 'force/f keep-logs/k all/a',
  rmi: 'all/a prune/q',
  rmp: 'force/f all/a',
  run: 'no-pull with-pull cancel-timeout/T creds auth username/u pull-timeout/pt runtime/r',
  'runtime-config': '',
  start: '',
  stats: 'all/a id pod/p label output/o seconds/s watch/w',
  statsp: 'id label output/o seconds/s watch/w',
  stop: 'timeout/t all/a',
  stopp: '',
  update: 'cpu-count cpu-maximum cpu-period cpu-quota cpu-share memory cpuset-cpus cpuset-mems oom-score-adj',
  'update-runtime-config': 'pod-cidr/p',
  version: '',
};

/** Spellings of two flags: the -u of `run` is --username with config files, as in crictl, and --user with an image. */
const SHARED: Readonly<Record<string, readonly string[]>> = {run: ['u']};

interface Definition {
  readonly char?: string;
  readonly aliases?: readonly string[];
  readonly charAliases?: readonly string[];
}

const spellings = (flags: object): readonly string[] =>
  Object.entries(flags as Record<string, Definition>).flatMap(
    ([name, {char, aliases = [], charAliases = []}]) => [
      name,
      ...[char, ...aliases, ...charAliases].filter((other) => other !== undefined),
    ],
  );

async function load(name: string) {
  const found = findCommand([name]);
  if (found === undefined) throw new Error(`no command ${name}`);
  return (await found.load()) as unknown as {
    flags?: object;
    aliases?: readonly string[];
    summary?: string;
    usage?: string;
  };
}

describe('commands', () => {
  test.each(Object.entries(CRICTL))("%s has crictl's flags", async (name, flags) => {
    const {flags: defined = {}} = await load(name);
    const wanted = flags.split(/[ /]/).filter((word) => word !== '');
    expect(spellings(defined)).toEqual(expect.arrayContaining(wanted));
  });

  test.each(Object.keys(CRICTL))('%s has a summary and unique flag names', async (name) => {
    const {flags = {}, summary, usage = `${name} `} = await load(name);
    expect(summary).toMatch(/^[A-Z].*[^.]$/);
    expect(usage.startsWith(`${name} `)).toBe(true);
    const all = spellings(flags);
    expect(all.filter((spelling, index) => all.indexOf(spelling) !== index)).toEqual(SHARED[name] ?? []);
  });

  test.each(Object.entries(COMMAND_ALIASES))('%s is a documented alias of %s', async (alias, name) => {
    expect((await load(name)).aliases).toContain(alias);
  });

  test.each([
    ['get', 'po', 'pods'],
    ['get', 'pod', 'pods'],
    ['get', 'ev', 'events'],
    ['get', 'event', 'events'],
  ])('%s %s is the command that kubectl users expect', (command, word, resource) => {
    expect(findCommand([command, word, '-A'])).toMatchObject({words: [command, resource], argv: ['-A']});
  });

  test("the global flags are crictl's, and additional ones of kcri", () => {
    const crictl =
      'config c runtime-endpoint r image-endpoint i timeout t debug D max-retries enable-tracing tracing-endpoint ' +
      'tracing-sampling-rate-per-million profile-cpu profile-mem';
    expect(spellings(GLOBAL_FLAGS).toSorted()).toEqual([...crictl.split(' '), 'root-dir'].toSorted());
  });

  test('every command is found by its words', () => {
    expect(commandNames()).toEqual(expect.arrayContaining(Object.keys(CRICTL)));
  });
});

test.each([
  ['image', 'images'],
  ['image busybox', 'images'],
  ['image save', 'image save'],
  ['image import', 'image load'],
  ['get image', 'get images'],
])('"%s" is the command "%s", of which image is a topic and an alias', (line, words) => {
  expect(findCommand(line.split(' '))?.words.join(' ')).toBe(words);
});

test('an alias is no topic if its subcommands are not offered, as in crictl', () => {
  const offer = {offersCommand: isCrictlCommand};
  expect(findCommand(['image', 'save'], offer)).toMatchObject({words: ['images'], argv: ['save']});
  expect(findCommand(['image', 'rm', 'x'], offer)).toMatchObject({words: ['images']});
  expect(findCommand(['create', 'js'], offer)).toMatchObject({words: ['create', 'jsonschema'], argv: []});
  expect(findCommand(['cp'], offer)).toBeUndefined();
});

test.each([
  ['rm', 'rmi'],
  ['remove', 'rmi'],
  ['inspect', 'inspecti'],
  ['history', 'history'],
  ['pull', 'pull'],
])("docker's image %s is %s", (word, command) => {
  expect(findCommand(['image', word, 'app:1'])).toMatchObject({words: [command], argv: ['app:1']});
});
