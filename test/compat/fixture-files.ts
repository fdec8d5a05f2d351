/** Files of the recorded command lines, by their path in the directory of the fixture. */

const POD = {
  metadata: {name: 'new', namespace: 'default', uid: 'new-uid', attempt: 0},
  linux: {cgroup_parent: '/x'},
};
const CONTAINER = {
  metadata: {name: 'main'},
  image: {image: 'localhost:5000/busybox:1'},
  command: ['sleep', '3600'],
};

export const POD_CONFIGS = {
  'pod.json': JSON.stringify(POD),
  'pod.yaml': 'metadata:\n  name: new\n  namespace: default\n  uid: new-uid\nlinux:\n  cgroup_parent: /x\n',
  'pod-no-cgroup.json': JSON.stringify({...POD, linux: {}}),
  'pod-no-linux.json': JSON.stringify({metadata: POD.metadata}),
  'web.json': JSON.stringify({metadata: {name: 'web', namespace: 'default', uid: 'u', attempt: 0}}),
};

export const CONTAINER_CONFIGS = {
  'container.json': JSON.stringify(CONTAINER),
  'container.yaml':
    'metadata:\n  name: main\nimage:\n  image: localhost:5000/busybox:1\ncommand: [sleep, "3600"]\n',
  'container-new-image.json': JSON.stringify({...CONTAINER, image: {image: 'localhost:5000/new:1'}}),
  'container-no-image.json': JSON.stringify({...CONTAINER, image: {image: 'localhost:5000/nowhere:1'}}),
  'container-mount.json': JSON.stringify({
    ...CONTAINER,
    mounts: [{container_path: '/data', image: {image: 'localhost:5000/new:1'}}],
  }),
};

export const BAD_CONFIGS = {
  'empty.json': '{}',
  'bad.yaml': 'a: [',
  'bad.json': '{"metadata": ',
  'no-name.json': JSON.stringify({...CONTAINER, metadata: {attempt: 1}}),
  'no-image.json': JSON.stringify({metadata: {name: 'main'}}),
  'empty-image.json': JSON.stringify({...CONTAINER, image: {}}),
  'no-namespace.json': JSON.stringify({metadata: {name: 'new'}}),
  'enum-name.json': JSON.stringify({
    ...POD,
    linux: {cgroup_parent: '/x', security_context: {namespace_options: {network: 'NODE'}}},
  }),
  'text-number.json': JSON.stringify({...POD, metadata: {...POD.metadata, attempt: '1'}}),
  'unknown-key.json': JSON.stringify({...POD, logDirectory: '/x', nonsense: 1}),
};

export const CRICTL_CONFIGS = {
  'crictl.yaml': '',
  'settings.yaml':
    '# ours\nruntime-endpoint: "unix:///nowhere/cri.sock"\ntimeout: 7\ndebug: false # quiet\n\nmax-retries: 0\n',
  'pull.yaml': 'pull-image-on-create: true\ndisable-pull-on-run: true\n',
  'unknown.yaml': 'runtime-endpoint: ""\nfoo: bar\n',
  'broken.yaml': 'runtime-endpoint: [\n',
  'not-a-number.yaml': 'timeout: soon\n',
  'not-a-boolean.yaml': 'debug: maybe\n',
};

const line = (second: number, stream: string, tag: string, text: string): string =>
  `2026-04-01T00:00:${String(second).padStart(2, '0')}.123456789Z ${stream} ${tag} ${text}\n`;

export const LOGS = {
  'nginx/0.log': line(0, 'stdout', 'F', 'the one before'),
  'nginx/1.log': [
    line(1, 'stdout', 'F', 'one'),
    line(2, 'stderr', 'F', 'two'),
    line(3, 'stdout', 'P', 'three '),
    line(4, 'stdout', 'F', 'and four'),
    line(5, 'stdout', 'F', 'five <&> "ü"'),
  ].join(''),
  'nginx/1.log.20260401-000000': line(0, 'stdout', 'F', 'rotated'),
  'init.log': line(1, 'stdout', 'F', 'done') + '2026-04-01T00:00:02Z stdout F no newline',
  'sidecar.json':
    '{"log":"json one\\n","stream":"stdout","time":"2026-04-01T00:00:01Z"}\n' +
    '{"log":"json two\\n","stream":"stderr","time":"2026-04-01T00:00:02Z"}\n',
  'bad.log': 'this is no log\n',
};
