import {compatCase, type Case, type CompatCase} from './cases.js';
import {REGULAR_EXPRESSIONS} from './generated-patterns.js';
import {generatedChecks, generatedFaults} from './generated-checks.js';
import {generatedConfigs, generatedCrictlFiles} from './generated-configs.js';

/** Values that parsers of flags decide on: limits of the types, other bases, separators, spaces and signs. */
const INTEGERS = [
  '010',
  '0x2',
  '0b11',
  '0o7',
  '1_0',
  '1__0',
  '+3',
  '-3',
  ' 3',
  '',
  '1e3',
  '3.0',
  '2147483648',
  '9223372036854775807',
  '9223372036854775808',
  '-9223372036854775809',
];
const DURATIONS = [
  '5',
  '1h',
  '-1s',
  '9999999h',
  '9223372036s',
  '1.5s',
  '.5s',
  '1_0s',
  '',
  ' 1s',
  '1d',
  '0',
  '-0',
];
const LISTS = [
  'a=b, c=d',
  ' app=web',
  'app=web ',
  'app = web',
  'app=web,',
  ',',
  '',
  'app',
  'app=a=b',
  '\tapp=web',
];
const PATTERNS = [
  String.raw`\p{Foo}`,
  '(?P<a>x)(?P<a>y)',
  '(?P<a>w)',
  '[',
  'a{1001}',
  '(?i)WEB',
  String.raw`\pL`,
  '(?<n>w)',
  '*',
];
const OUTPUTS = [
  'name',
  'json',
  'yaml',
  'table',
  'wide',
  'go-template',
  '',
  'JSON',
  'jsonpath={.x}',
  'custom-columns=A:.x',
];
const ENDPOINTS = [
  'unix://{SOCKET}#f',
  'UNIX://{SOCKET}',
  'unix://{SOCKET}?q=1',
  'unix:{SOCKET}',
  'unix://host{SOCKET}',
  'unix://{SOCKET} x',
  'unix://{DIR}/a%20b',
  'unix://{DIR}/a%zz',
  '{SOCKET}#f',
  'tcp://127.0.0.1:1',
  'http://x',
  ' {SOCKET}',
];

/** Flags of a kind with the command line that uses them; `VALUE` is replaced. */
const LINES: readonly (readonly [line: string, values: readonly string[]])[] = [
  ...['memory', 'cpu-period', 'cpu-quota', 'cpu-share', 'cpu-count', 'cpu-maximum', 'oom-score-adj'].map(
    (flag) => [`update|--${flag}|VALUE|{nginx}`, INTEGERS] as const,
  ),
  ['stop|--timeout|VALUE|{nginx}', INTEGERS],
  ['exec|-s|--timeout|VALUE|{nginx}|echo|x', INTEGERS],
  ['logs|--tail|VALUE|{nginx}', INTEGERS],
  ['logs|--limit-bytes|VALUE|{nginx}', INTEGERS],
  ...['ps', 'pods', 'stopp'].slice(0, 2).map((command) => [`${command}|-q|--last|VALUE`, INTEGERS] as const),
  ['stats|-o|json|-s|VALUE|nothing', ['0x', '', '9223372036854775808', '1.5']],
  ['statsp|-o|json|-s|VALUE|nothing', ['0x', '', '9223372036854775808', '1.5']],
  ['--tracing-sampling-rate-per-million|VALUE|version', INTEGERS],
  ['--timeout|VALUE|version', DURATIONS],
  ['pull|--pull-timeout|VALUE|localhost:5000/new:1', DURATIONS],
  ['runp|--cancel-timeout|VALUE|{DIR}/pod.json', DURATIONS],
  ...['ps', 'pods', 'stats', 'statsp'].map((command) => [`${command}|--label|VALUE`, LISTS] as const),
  [
    'images|-q|-f|VALUE',
    [' dangling=false', 'dangling=true ', 'dangling = true', 'reference=*nginx*', 'a', ' ', 'dangling=x'],
  ],
  ['pull|-a|VALUE|localhost:5000/new:1', LISTS],
  [
    'config|--set|VALUE',
    [
      ' timeout=4',
      'timeout= 4',
      'timeout=4 ,debug=true',
      'timeout=9223372036854775808',
      'timeout=-1',
      'timeout=0x2',
      'debug=yes',
      'timeout=',
      'a',
    ],
  ],
  ['ps|-q|--name|VALUE', PATTERNS],
  ['ps|-q|--image|VALUE', PATTERNS],
  ['pods|-q|--name|VALUE', PATTERNS],
  ['pods|-q|--namespace|VALUE', PATTERNS],
  ...[
    'ps',
    'pods',
    'images',
    'info',
    'inspect|{nginx}',
    'stats',
    'statsp',
    'inspectp|{web}',
    'inspecti|{busybox}',
    'imagefsinfo',
    'metricdescs',
    'metricsp',
    'events',
    'version',
    'runtime-config',
  ].map((line): readonly [string, readonly string[]] => {
    const [command = '', ...rest] = line.split('|');
    return [
      [command, '-o', 'VALUE', ...rest].join('|'),
      command === 'events' ? ['name', 'wide', 'JSON'] : OUTPUTS,
    ];
  }),
  ['-r|VALUE|version', ENDPOINTS],
  ['-r|VALUE|images|-q', ENDPOINTS],
  ['-i|VALUE|images|-q', ENDPOINTS],
];

function splitAtValue(line: string, value: string): readonly string[] {
  return line.split('|').map((word) => (word === 'VALUE' ? value : word));
}

/** Command lines of formats and faults of stats and metrics. */
function statsCases(): readonly Case[] {
  const commands = ['stats', 'statsp', 'metricsp', 'metricdescs', 'imagefsinfo'];
  const flags = [
    '',
    '-o|json',
    '-o|yaml',
    '-o|table',
    '-o|bad',
    '-o|',
    '-o|wide',
    '-o|JSON',
    '-o|go-template',
  ];
  const rpcs = [
    'ListContainerStats',
    'ListPodSandboxStats',
    'ListPodSandboxMetrics',
    'ListMetricDescriptors',
    'ImageFsInfo',
  ] as const;
  const targets: Readonly<Record<string, readonly string[]>> = {
    stats: [
      '',
      '{nginx}',
      'nothing',
      'a|b',
      '--id|{nginx}',
      '--id|x|{nginx}',
      '-p|{web}',
      '--label|app=web',
      '--label|x',
      '-a',
      '-s|x',
      '-s|0',
      '-s|1',
      '-s|-1',
      '-w=false',
    ],
    statsp: [
      '',
      '{web}',
      'nothing',
      'a|b',
      '--id|{web}',
      '--id|x|{web}',
      '--label|app=web',
      '--label|x',
      '-s|x',
      '-s|0',
      '-w=false',
      '-a',
    ],
    metricsp: ['', 'x', '{web}', '-w=false', '-s|1'],
    metricdescs: ['', 'x', '-w'],
    imagefsinfo: ['', 'x'],
  };
  return commands.flatMap((name, index) =>
    flags.flatMap((flag) =>
      (targets[name] ?? []).flatMap((target): readonly Case[] => {
        const words = [name, ...flag.split('|'), ...target.split('|')].filter(
          (word, at, all) => word !== '' || all[at - 1] === '-o',
        );
        const rpc = rpcs[index] ?? 'Version';
        if (target !== '') return [[words, {}]];
        return [
          [words, {}],
          [words, {fixture: 'empty'}],
          [words, {fault: [rpc, 'UNIMPLEMENTED']}],
          [words, {fault: [rpc, 'UNKNOWN']}],
        ];
      }),
    ),
  );
}

/** Returns the generated command lines. */
export function generatedCases(): readonly CompatCase[] {
  const lines = LINES.flatMap(([line, values]) =>
    values.map((value): Case => [splitAtValue(line, value), {}]),
  );
  const expressions = [
    'ps|-aq|--name|VALUE',
    'pods|-q|--namespace|VALUE',
    'images|-q|-f|reference=VALUE',
    'inspectp|-q|-o|table|--name|VALUE',
  ].flatMap((line, index) =>
    [...PATTERNS, ...REGULAR_EXPRESSIONS]
      .filter((_, at) => index === 0 || at % 3 === index % 3)
      .map((value): Case => [line.split('|').map((word) => word.replace('VALUE', () => value)), {}]),
  );
  const all = [
    ...lines,
    ...expressions,
    ...generatedChecks(),
    ...generatedFaults(),
    ...statsCases(),
    ...generatedCrictlFiles(),
    ...generatedConfigs(),
  ].map(compatCase);
  return [...new Map(all.map((each) => [each.title, each])).values()];
}
