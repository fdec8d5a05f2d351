/**
 * The import rules of ARCHITECTURE.md: imports point down. scripts/check.mjs also asserts how many modules were
 * seen, so that these rules can't pass on an empty set.
 */
const below = {
  base: [],
  api: ['base'],
  cri: ['base'],
  format: ['base', 'api', 'cri'],
  'private-runtime': ['base', 'cri'],
  streaming: ['base', 'cri'],
  operations: ['base', 'api', 'cri', 'format', 'streaming'],
  kubelet: ['base', 'api', 'cri', 'format'],
  cli: ['base', 'api', 'cri', 'format', 'streaming', 'operations', 'private-runtime', 'kubelet'],
  commands: ['base', 'api', 'cri', 'format', 'streaming', 'operations', 'private-runtime', 'kubelet', 'cli'],
};

/** The kubelet's HTTP server reads logs and passes streams on as commands do; nothing else of the kubelet does either. */
const SERVER = '^src/kubelet/server/';
const server = ['kubelet', ...below.kubelet, 'streaming', 'operations'];

const layers = Object.entries(below).map(([layer, allowed]) => ({
  name: `${layer}-points-down`,
  severity: 'error',
  from: {path: `^src/${layer}/`, ...(layer === 'kubelet' && {pathNot: SERVER})},
  to: {path: '^src/', pathNot: [layer, ...allowed].map((name) => `^src/${name}/`)},
}));

/** Managers declare the interfaces they need; only kuberuntime and the wiring know several of them. */
const managers = [
  'config',
  'lifecycle',
  'prober',
  'images',
  'volumes',
  'pod',
  'network',
  'node-status',
  'resources',
];

module.exports = {
  forbidden: [
    ...layers,
    {
      name: 'kubelet-server-points-down',
      severity: 'error',
      from: {path: SERVER},
      to: {path: '^src/', pathNot: server.map((name) => `^src/${name}/`)},
    },
    {
      name: 'kubelet-knows-no-server',
      severity: 'error',
      comment: 'It is put together with the kubelet by whoever runs both.',
      from: {path: '^src/kubelet/', pathNot: [SERVER, '^src/kubelet/index\\.ts$']},
      to: {path: SERVER},
    },
    {name: 'no-cycles', severity: 'error', from: {}, to: {circular: true}},
    {
      name: 'grpc-only-in-cri',
      severity: 'error',
      from: {path: '^src/', pathNot: '^src/cri/'},
      to: {path: 'node_modules/@grpc/'},
    },
    {
      name: 'grpc-is-loaded-when-needed',
      severity: 'error',
      comment: 'It costs a command of one call more than all the rest.',
      from: {path: '^src/', pathNot: '^src/cri/grpc-transport\\.ts$'},
      to: {
        path: ['node_modules/@grpc/', '^src/cri/grpc-transport\\.ts$'],
        dynamic: false,
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'http2-knows-no-cri',
      severity: 'error',
      from: {path: '^src/cri/http2/'},
      to: {path: '^src/', pathNot: '^src/(base|cri/http2)/'},
    },
    {
      name: 'oclif-only-in-cli',
      severity: 'error',
      from: {path: '^src/', pathNot: '^src/(cli|commands)/'},
      to: {path: 'node_modules/@oclif/'},
    },
    {
      name: 'kubelet-has-one-door',
      severity: 'error',
      comment:
        "The table of a kubelet's configuration makes its flags, and every command looks whether one runs: these need nothing else of it.",
      from: {path: '^src/', pathNot: '^src/kubelet/'},
      to: {path: '^src/kubelet/', pathNot: '^src/kubelet/(index|kubelet-file|kubelet-config/fields)\\.ts$'},
    },
    {
      name: 'cri-has-one-door',
      severity: 'error',
      comment:
        'The generated tables, lists of any length and health checks are no part of the published client; everything else goes through its index.',
      from: {path: '^src/', pathNot: '^src/cri/'},
      to: {
        path: '^src/cri/',
        pathNot: '^src/cri/(index|endpoint|ids|errors|deadlines|list-all|check-health|gen/\\w+)\\.ts$',
      },
    },
    {
      name: 'contract-knows-no-manager',
      severity: 'error',
      from: {path: '^src/kubelet/container/'},
      to: {path: '^src/kubelet/', pathNot: '^src/kubelet/container/'},
    },
    ...managers.map((manager) => ({
      name: `${manager}-knows-no-other-manager`,
      severity: 'error',
      from: {path: `^src/kubelet/${manager}/`},
      to: {
        path: '^src/kubelet/',
        pathNot: [`^src/kubelet/${manager}/`, '^src/kubelet/container/', '^src/kubelet/http/'],
      },
    })),
  ],
  options: {
    doNotFollow: {path: 'node_modules'},
    tsConfig: {fileName: 'tsconfig.json'},
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
    },
  },
};
