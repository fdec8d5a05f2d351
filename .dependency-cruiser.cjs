/**
 * Import rules of ARCHITECTURE.md: imports point down. scripts/check.mjs also asserts the number of modules, so that
 * these rules cannot pass on an empty set.
 */
const {readdirSync} = require('node:fs');
const {join} = require('node:path');

const below = {
  base: [],
  api: ['base'],
  cri: ['base'],
  containerd: ['base', 'cri'],
  'plugin-api': ['base', 'cri'],
  'kube-api': ['base', 'api'],
  format: ['base', 'api', 'cri'],
  'private-runtime': ['base', 'cri'],
  streaming: ['base', 'cri'],
  recording: ['base', 'cri', 'format', 'streaming'],
  'http-server': ['base', 'format'],
  remote: ['base'],
  operations: ['base', 'api', 'cri', 'containerd', 'format', 'streaming', 'remote'],
  kubelet: ['base', 'api', 'cri', 'format', 'kube-api', 'plugin-api'],
};
// What a command does and how it looks, and above it the commands and the program, which may use everything.
below.cli = Object.keys(below).filter((layer) => layer !== 'kube-api' && layer !== 'plugin-api');
below.features = [...below.cli, 'cli'];
below.commands = [...below.features, 'features'];
below.program = below.commands;

/** The kubelet's HTTP server. Only it reads logs and proxies streams as commands do. */
const SERVER = '^src/kubelet/server/';
const server = ['kubelet', ...below.kubelet, 'http-server', 'streaming', 'operations'];

const layers = Object.entries(below).map(([layer, allowed]) => ({
  name: `${layer}-points-down`,
  severity: 'error',
  from: {path: `^src/${layer}/`, ...(layer === 'kubelet' && {pathNot: SERVER})},
  to: {path: '^src/', pathNot: [layer, ...allowed].map((name) => `^src/${name}/`)},
}));

/** Floors of the kubelet from top to bottom; each imports only those below it. */
const FLOORS = [
  ['foreground', 'plan', 'cluster'],
  ['daemon'],
  ['pods', 'server'],
  ['managers'],
  ['configuration', 'sources', 'node'],
  ['resources'],
  ['contract'],
];
const floors = FLOORS.flatMap((floor, index) =>
  floor.map((name) => ({
    name: `kubelet-${name}-points-down`,
    severity: 'error',
    from: {path: `^src/kubelet/${name}/`},
    to: {
      path: '^src/kubelet/',
      pathNot: [name, ...FLOORS.slice(index + 1).flat()].map((lower) => `^src/kubelet/${lower}/`),
    },
  })),
);

/** What managers may import of the kubelet beside themselves. */
const BELOW_MANAGERS = ['contract', 'resources', 'managers/http'];
/** Module of another floor that any manager may import. */
const SHARED_WITH_MANAGERS = '^src/kubelet/sources/critical-pod\\.ts$';

/** Managers that combine others, and what they import in addition. */
const COMBINED = {
  kuberuntime: ['managers/images', 'managers/network', 'managers/redaction', 'sources'],
  metrics: ['managers/pleg'],
  pleg: ['managers/kuberuntime'],
  'pod-filesystem': ['managers/cgroups', 'managers/kuberuntime', 'managers/network', 'managers/volumes'],
};

/** Every folder, so that a new manager is restricted, too. */
const managers = readdirSync(join(__dirname, 'src/kubelet/managers'));

/** Modules without I/O: what the computation of pod statuses and pod actions may import. */
const PURE = [
  '^src/(api|base|cri)/(?!fs/)',
  '^src/kubelet/(contract|resources)/',
  '^src/kubelet/pods/status/compute/',
  '^src/kubelet/managers/kuberuntime/(compute|config)/',
  '^src/kubelet/managers/network/sort-pod-ips\\.ts$',
  '^src/kubelet/sources/static-pod\\.ts$',
];

/** Modules that load grpc-js: the client of streams, and the server. */
const GRPC_MODULES = ['^src/cri/grpc-transport\\.ts$', '^src/plugin-api/grpc-server\\.ts$'];

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
      name: 'kubelet-does-not-import-its-server',
      severity: 'error',
      comment: 'The command that runs both connects them.',
      from: {path: '^src/kubelet/', pathNot: [SERVER, '^src/kubelet/index\\.ts$']},
      to: {path: SERVER},
    },
    {
      name: 'ui-page-runs-in-browsers',
      severity: 'error',
      comment: 'It shares only pure functions and the types of its server with the program.',
      from: {path: '^src/ui-page/'},
      to: {path: '^src/', pathNot: ['^src/(ui-page|format)/', '^src/features/ui/protocol\\.ts$']},
    },
    {
      name: 'nothing-imports-ui-page',
      severity: 'error',
      from: {path: '^src/', pathNot: '^src/ui-page/'},
      to: {path: '^src/ui-page/'},
    },
    {name: 'no-cycles', severity: 'error', from: {}, to: {circular: true}},
    {
      name: 'folders-have-no-cycles',
      severity: 'error',
      comment: 'Folders beside each other; a folder and its sub-folders may import each other.',
      scope: 'folder',
      from: {path: '^src/'},
      to: {circular: true},
    },
    {
      name: 'pod-status-is-computed-purely',
      severity: 'error',
      comment:
        'No I/O, no Node.js modules, no managers but the pure parts of kuberuntime, and the fields that kcri supports.',
      from: {path: '^src/kubelet/pods/status/compute/'},
      to: {pathNot: [...PURE, '^src/kubelet/pods/field-support/']},
    },
    {
      name: 'pod-actions-are-computed-purely',
      severity: 'error',
      from: {path: '^src/kubelet/managers/kuberuntime/compute/'},
      to: {pathNot: PURE},
    },
    {
      name: 'grpc-only-in-cri-and-the-plugin-api',
      severity: 'error',
      comment: 'One client, and one server for the sockets that the kubelet serves.',
      from: {path: '^src/', pathNot: '^src/(cri/|plugin-api/grpc-server\\.ts$)'},
      to: {path: 'node_modules/@grpc/'},
    },
    {
      name: 'grpc-is-loaded-when-needed',
      severity: 'error',
      comment: 'Loading it takes a one-call command longer than everything else.',
      from: {path: '^src/', pathNot: GRPC_MODULES},
      to: {
        path: ['node_modules/@grpc/', ...GRPC_MODULES],
        dynamic: false,
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'http2-does-not-import-cri',
      severity: 'error',
      from: {path: '^src/cri/http2/'},
      to: {path: '^src/', pathNot: '^src/(base|cri/http2)/'},
    },
    {
      name: 'oclif-only-in-cli',
      severity: 'error',
      from: {path: '^src/', pathNot: '^src/(cli|features|commands|program)/'},
      to: {path: 'node_modules/@oclif/'},
    },
    {
      name: 'kubelet-has-one-door',
      severity: 'error',
      comment:
        'Flags are generated from the configuration fields, and every command checks whether a kubelet runs: both need nothing else.',
      from: {path: '^src/', pathNot: '^src/kubelet/'},
      to: {
        path: '^src/kubelet/',
        pathNot:
          '^src/kubelet/(index|cluster/index|pods/registry/running-kubelet|configuration/fields-and-defaults/kubelet-config-defaults)\\.ts$',
      },
    },
    {
      name: 'cri-has-one-door',
      severity: 'error',
      comment:
        'Generated tables, the codec and the schema of messages, list helpers, completed messages, recorded answers and health checks are not part of the published client; everything else goes through the index.',
      from: {path: '^src/', pathNot: '^src/(cri|containerd|plugin-api|recording)/'},
      to: {
        path: '^src/cri/',
        pathNot:
          '^src/cri/(index|codec|endpoint|ids|errors|deadlines|list-all|message-schema|check-health|read-cgroup-driver|complete-message|recorded-transport|gen/\\w+)\\.ts$',
      },
    },
    {
      name: 'containerd-is-a-client-like-cri',
      severity: 'error',
      comment: "It shares the CRI client's transport and codec.",
      from: {path: '^src/containerd/'},
      to: {
        path: '^src/cri/',
        pathNot: '^src/cri/(index|call-options|default-transport|message-schema|service-client)\\.ts$',
      },
    },
    {
      name: 'containerd-is-loaded-when-needed',
      severity: 'error',
      comment: 'Only few commands use it.',
      from: {path: '^src/', pathNot: '^src/(containerd|operations)/'},
      to: {path: '^src/containerd/', dynamic: false, dependencyTypesNot: ['type-only']},
    },
    {
      name: 'plugin-api-shares-the-codec-of-cri',
      severity: 'error',
      comment: 'Its clients are like the CRI client, and its server uses the same messages.',
      from: {path: '^src/plugin-api/'},
      to: {
        path: '^src/cri/',
        pathNot:
          '^src/cri/(index|call-options|codec|default-transport|message-schema|service-client|wire-format)\\.ts$',
      },
    },
    {
      name: 'recording-reads-along-with-cri',
      severity: 'error',
      comment: "It decodes what other programs send, with the CRI client's HTTP/2 and codec.",
      from: {path: '^src/recording/'},
      to: {
        path: '^src/cri/',
        pathNot:
          '^src/cri/(call-options|codec|endpoint|errors|message-schema|proto-json|wire-format|gen/\\w+|unary/grpc-status|http2/[\\w-]+)\\.ts$',
      },
    },
    {
      name: 'contract-imports-only-itself',
      severity: 'error',
      from: {path: '^src/kubelet/contract/'},
      to: {path: '^src/kubelet/', pathNot: '^src/kubelet/contract/'},
    },
    ...floors,
    ...managers.map((manager) => ({
      name: `${manager}-imports-no-other-manager`,
      severity: 'error',
      from: {path: `^src/kubelet/managers/${manager}/`},
      to: {
        path: '^src/kubelet/',
        pathNot: [
          SHARED_WITH_MANAGERS,
          ...[`managers/${manager}`, ...BELOW_MANAGERS, ...(COMBINED[manager] ?? [])].map(
            (name) => `^src/kubelet/${name}/`,
          ),
        ],
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
