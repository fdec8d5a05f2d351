type Json = string | number | boolean | null | readonly Json[] | {readonly [name: string]: Json};

const ID = (letter: string): string => letter.repeat(64);
const [SANDBOX, INIT, MAIN] = [ID('a'), ID('b'), ID('c')];
const METADATA = {name: 'web', namespace: 'default', uid: 'b4a7a1f0-1c6e-4b1e-9d52-0e6f7f3f0001'};
const CONFIG = {
  metadata: METADATA,
  logDirectory: `/var/log/pods/default_web_${METADATA.uid}`,
  annotations: {note: 'text'},
  linux: {cgroupParent: `/kubepods/besteffort/pod${METADATA.uid}`},
};
const created = (name: string) => ({
  podSandboxId: SANDBOX,
  config: {
    metadata: {name},
    image: {image: 'docker.io/library/busybox:1.36'},
    command: ['sleep', '1'],
    envs: [{key: 'MODE', value: 'YQ=='}],
    mounts: [{containerPath: '/data', hostPath: `/var/lib/kubelet/pods/${METADATA.uid}/volumes/data`}],
    logPath: `${name}/0.log`,
  },
  sandboxConfig: CONFIG,
});

/** Calls of a recording: method, request, response. */
const CALLS: readonly (readonly [method: string, request: Json, response: Json])[] = [
  ['RunPodSandbox', {config: CONFIG}, {podSandboxId: SANDBOX}],
  [
    'PodSandboxStatus',
    {podSandboxId: SANDBOX},
    {status: {id: SANDBOX, metadata: METADATA, network: {ip: '10.0.0.1'}}},
  ],
  [
    'PullImage',
    {image: {image: 'docker.io/library/busybox:1.36'}, sandboxConfig: CONFIG},
    {imageRef: `sha256:${ID('d')}`},
  ],
  ['CreateContainer', created('init'), {containerId: INIT}],
  ['StartContainer', {containerId: INIT}, {}],
  [
    'ContainerStatus',
    {containerId: INIT},
    {
      status: {
        id: INIT,
        metadata: {name: 'init'},
        state: 'CONTAINER_EXITED',
        finishedAt: '1795953600400000000',
        exitCode: 1,
      },
    },
  ],
  ['CreateContainer', created('main'), {containerId: MAIN}],
  ['StartContainer', {containerId: MAIN}, {}],
  ['ExecSync', {containerId: MAIN, cmd: ['true']}, {stdout: 'aGk='}],
  [
    'ListContainers',
    {},
    {containers: [{id: INIT, podSandboxId: SANDBOX, metadata: {name: 'init'}, state: 'CONTAINER_EXITED'}]},
  ],
  ['StopContainer', {containerId: MAIN, timeout: '1'}, {}],
  ['StopPodSandbox', {podSandboxId: SANDBOX}, {}],
  ['RemoveContainer', {containerId: INIT}, {}],
  ['RemovePodSandbox', {podSandboxId: SANDBOX}, {}],
];

/** Returns the lines of the recording of a pod with an init container. */
export function aRecordedPod(): readonly string[] {
  const lines: Json[] = CALLS.map(([method, request, response], index) => ({
    time: `2026-11-29T12:00:00.${String(index * 50).padStart(3, '0')}123Z`,
    ...{call: index + 1, connection: 1, method, code: 'OK', durationMs: 20.5, timeoutMs: 10_000},
    service: `runtime.v1.${method === 'PullImage' ? 'ImageService' : 'RuntimeService'}`,
    ...{request, response},
  }));
  const event = {
    containerId: INIT,
    containerEventType: 'CONTAINER_STOPPED_EVENT',
    createdAt: '1795953600400000000',
  };
  lines.splice(5, 0, {
    time: '2026-11-29T12:00:00.245000Z',
    call: 99,
    method: 'GetContainerEvents',
    message: event,
  });
  const header = {
    recording: {version: 1, program: 'kcri', endpoint: 'unix:///run/cri.sock', masksEnv: false},
  };
  return [header, ...lines].map((line) => JSON.stringify(line));
}

/** Values in the place of others. */
const HOSTILE: readonly Json[] = [
  ...[
    null,
    true,
    0,
    -1,
    5,
    1.5,
    1e300,
    -1e300,
    2 ** 53,
    '',
    ' ',
    'x',
    '***',
    '-5',
    'NaN',
    'constructor',
    '__proto__',
  ],
  ...[
    '\u202Eevil\u001b[31m\u0007\u0085',
    '\u0000',
    '\ud800',
    '<script>&"\']]>',
    '../../../etc',
    'x'.repeat(5000),
  ],
  ...[
    '9999-12-31T23:59:59.999999Z',
    '+275760-09-13T00:00:00.000Z',
    '0000-01-01T00:00:00Z',
    '2026-13-45T99:99:99Z',
  ],
  ...['1969-12-31T00:00:00.000000Z', '9'.repeat(19), '9'.repeat(400)],
  ...[[], {}, [[]], [null], [{}], {constructor: 'x', toString: 1, hasOwnProperty: null}, [1, 'a', {key: 1}]],
];

/** Returns a function of a seed that returns numbers from 0 up to 1 (mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Returns the lines of a recording with one to six faults, which follow from the random numbers. */
export function mutateRecording(lines: readonly string[], random: () => number): readonly string[] {
  const changed = [...lines];
  const below = (limit: number): number => Math.floor(random() * limit);
  for (let left = 1 + below(6); left > 0; left -= 1) {
    const at = below(changed.length);
    const line = changed[at] ?? '';
    const act = [
      ...Array.from({length: 8}, () => () => (changed[at] = withHostileValue(line, below))),
      () => (changed[at] = line.slice(0, below(line.length))),
      () => changed.splice(at, 0, changed[below(changed.length)] ?? ''),
      () => changed.splice(at, 1),
      () => changed.push(line),
      () =>
        changed.splice(
          at,
          0,
          ['{"lost":3}', '[]', 'null', '\u0000', '{', '{"recording":{"version":1}}'][below(6)] ?? '',
        ),
      () => (changed[at] = line.replace(/}$/, `,"deep":${'[{"a":'.repeat(50_000)}1${'}]'.repeat(50_000)}}`)),
      () =>
        (changed[at] = line.replace(
          /"durationMs":[\d.]+/,
          `"durationMs":${['1e999', '-1e999', '8e15'][below(3)] ?? ''}`,
        )),
    ];
    act[below(act.length)]?.();
  }
  return changed;
}

/** Replaces a value somewhere in a line, or adds a member. */
function withHostileValue(line: string, below: (limit: number) => number): string {
  const value = HOSTILE[below(HOSTILE.length)] ?? null;
  try {
    return JSON.stringify(replaceIn(JSON.parse(line) as Json, value, below));
  } catch {
    return line; // it is damaged already
  }
}

function replaceIn(json: Json, value: Json, below: (limit: number) => number): Json {
  if (typeof json !== 'object' || json === null || below(4) === 0) return value;
  if (Array.isArray(json)) {
    const items = json as readonly Json[];
    const at = below(items.length);
    return items.map((item, index) => (index === at ? replaceIn(item, value, below) : item));
  }
  const members = Object.entries(json as Readonly<Record<string, Json>>);
  const at = below(members.length + 1);
  const name = members[at]?.[0];
  if (name === undefined) return Object.fromEntries([...members, ['__proto__', value]]);
  return Object.fromEntries(
    members.map(([each, member]) => [each, each === name ? replaceIn(member, value, below) : member]),
  );
}
