import type {Case} from '../cases.js';
import {wordsWith, type Values} from './values.js';

/** Returns each value in two of the lines, in turn. */
function inTurns(lines: readonly string[], values: readonly string[]): readonly Case[] {
  const line = (at: number): string => lines[at % lines.length] ?? '';
  return values.flatMap((value, at): readonly Case[] =>
    [at, at + 1 + (at % 3)].map((index): Case => {
      const words = wordsWith(line(index), value);
      return [words, actsInAnyOrder(words[0]) ? {unordered: true} : {}];
    }),
  );
}

/** Reports whether crictl's command acts on several objects in any order. */
function actsInAnyOrder(command = ''): boolean {
  return /^(rm|exec|stop|inspect|rmi|rmp)/.test(command);
}

const DURATIONS = [
  '-t|VALUE|version',
  '-t=VALUE|ps|-q',
  'pull|--pt=VALUE|localhost:5000/new:1',
  'runp|-T|VALUE|{DIR}/pod.json',
  'create|--cancel-timeout=VALUE|{web}|{DIR}/container.json|{DIR}/web.json',
  'run|-T=VALUE|--no-pull|{DIR}/container.json|{DIR}/pod.json',
];
const LISTS = [
  'ps|-q|--label|VALUE',
  'pods|-q|--label=VALUE',
  'inspect|-q|--label|VALUE',
  'exec|-s|--label|VALUE|true',
  'statsp|-o|json|--label|VALUE',
  'pull|-a|VALUE|localhost:5000/new:1',
  'config|--set|VALUE',
];
const SOON = ['--max-retries', '0', '-t', '300ms'];
const ENDPOINTS = ['-r|VALUE|version', '-i|VALUE|images|-q', '-r=VALUE|ps|-q'].map((line) =>
  [...SOON, line].join('|'),
);
const OUTPUTS = [
  'ps|-o|VALUE',
  'pods|-o=VALUE',
  'images|-o|VALUE',
  'info|-o|VALUE',
  'inspect|-o|VALUE|{nginx}',
  'inspectp|-o|VALUE|{web}',
  'inspecti|-o|VALUE|{busybox}',
  'imagefsinfo|-o|VALUE',
  'stats|-o|VALUE|nothing',
  'statsp|-o|VALUE|nothing',
  'metricsp|-o|VALUE',
  'metricdescs|-o|VALUE',
];
const BOOLEANS = [
  'ps|-q=VALUE',
  'pods|--no-trunc=VALUE',
  'images|--digests=VALUE',
  'exec|-s=VALUE|{nginx}|true',
  'rm|-f=VALUE|{nginx}',
  '-D=VALUE|version|x',
  '--enable-tracing=VALUE|--bogus',
  'config|--list=VALUE',
  'logs|-t=VALUE|{nginx}',
  'inspect|-q=VALUE|{nginx}',
];

/** Returns command lines with values of flags, from the command line and the environment. */
export function flagLines(values: Values): readonly Case[] {
  const {durations, lists, endpoints, syntax} = values;
  return [
    ...inTurns(values.integerLines, values.integers),
    ...inTurns(DURATIONS, durations),
    ...durations.map((value): Case => ['pull localhost:5000/new:1', {env: {CRICTL_PULL_TIMEOUT: value}}]),
    ...inTurns(LISTS, lists),
    ...lists.slice(0, 12).map((value): Case => [['ps', '-q', '--label', value, '--label', 'app=web'], {}]),
    ...inTurns(ENDPOINTS, endpoints),
    ...endpoints.map((value, at): Case =>
      at % 2 === 0
        ? [[...SOON, 'version'], {env: {CONTAINER_RUNTIME_ENDPOINT: value}}]
        : [[...SOON, 'images', '-q'], {env: {IMAGE_SERVICE_ENDPOINT: value}}],
    ),
    ...inTurns(OUTPUTS, values.outputs),
    ...inTurns(BOOLEANS, values.booleans),
    ...['ps', 'pods'].flatMap((command) => syntax.map((form): Case => [[command, ...form.split('|')], {}])),
  ];
}

/** Number of combinations of each command. */
const COMBINATIONS = 26;

/** Returns command lines with one to four flags or arguments at random, always the same ones. */
export function combinedFlags({combinations}: Values): readonly Case[] {
  let state = 12_345;
  const random = (below: number): number => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return Math.floor((state / 2 ** 31) * below);
  };
  return Object.entries(combinations).flatMap(([name, parts]) =>
    Array.from({length: COMBINATIONS}, (): Case => {
      const picked = Array.from({length: 1 + random(4)}, () => parts[random(parts.length)] ?? []);
      return [[name, ...picked.flat()], actsInAnyOrder(name) ? {unordered: true} : {}];
    }),
  );
}

/** Returns command lines that ask for help. */
export function helpLines({helpCommands}: Values): readonly Case[] {
  const lines = helpCommands.flatMap((name) => [
    `${name} --help`,
    `${name} -h x`,
    `help ${name}`,
    `${name} help`,
    `${name} h ${name}`,
    `${name} x --help`,
    `--help ${name}`,
    `-h=false ${name} -h`,
    `${name} --generate-bash-completion`,
    `${name} -version`,
  ]);
  return lines.map((line): Case => (actsInAnyOrder(line) ? [line, {unordered: true}] : line));
}
