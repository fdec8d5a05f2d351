import {describe, expect, test} from 'vitest';
import type {CanonicalCall} from '../../src/recording/canonical/canonical-calls.js';
import {playCase} from './play-case.js';

/** Expected behavior of a kubelet for a manifest in test/golden/derived without a recording. */
interface Derived {
  /** The rule from which it is derived. */
  readonly rule: string;
  /** The calls in the short form of `brief`, in order. */
  readonly calls: string;
  /** Expected fields of the first matching call, by its short form. */
  readonly requests?: Readonly<Record<string, object>>;
  /** Messages of expected events. */
  readonly messages?: readonly string[];
}

const END = 'StopSB(0) Rm(main/0) StopSB(0) RmSB(0)';
const STOP_AND_END = `Stop(main/0,2s) ${END}`;
const ONE_CONTAINER = `Run(0) Create(main/0) Start(main/0) ${STOP_AND_END}`;

const security = (securityContext: object): object => ({
  config: {linux: {security_context: securityContext}},
});
const resources = (fields: object): object => ({config: {linux: {resources: fields}}});

const CASES: Readonly<Record<string, Derived>> = {
  'init-fail-onfailure': {
    rule: 'a failed init container is retried with back-off unless the policy is Never',
    calls: [
      'Run(0) Create(i1/0) Start(i1/0) Create(i1/1) Start(i1/1) Rm(i1/0) Create(i1/2) Start(i1/2) Rm(i1/1)',
      'Create(i1/3) Start(i1/3) Rm(i1/2) StopSB(0) Rm(i1/3) StopSB(0) RmSB(0)',
    ].join(' '),
  },
  'grace-1': {rule: 'the grace period is at least 2 s', calls: ONE_CONTAINER},
  'prestop-sleep': {
    rule: 'the seconds of a hook are subtracted from the grace period',
    calls: `Run(0) Create(main/0) Start(main/0) Stop(main/0,7s) ${END}`,
  },
  'prestop-timeout': {
    rule: 'a hook that exceeds the grace period is not stopped before the container',
    calls: `Run(0) Create(main/0) Start(main/0) Exec(main/0)=137 ${STOP_AND_END}`,
    messages: ['PreStopHook failed'],
  },
  'sidecar-prestop': {
    rule: 'hooks run concurrently, and sidecars wait for the containers and for later sidecars',
    calls: [
      'Run(0) Create(s1/0) Start(s1/0) Create(s2/0) Start(s2/0) Create(main/0) Start(main/0) Exec(s1/0)',
      'Stop(main/0,10s) Stop(s1/0,8s) Stop(s2/0,8s) StopSB(0) Rm(main/0) Rm(s1/0) Rm(s2/0) StopSB(0) RmSB(0)',
    ].join(' '),
  },
  'kill-sidecar': {
    rule: 'a sidecar is restarted immediately, and the containers keep running',
    calls: [
      'Run(0) Create(side/0) Start(side/0) Create(main/0) Start(main/0) Create(side/1) Start(side/1)',
      'Stop(main/0,2s) Stop(side/1,2s) StopSB(0) Rm(main/0) Rm(side/0) Rm(side/1) StopSB(0) RmSB(0)',
    ].join(' '),
  },
  'kill-init': {
    rule: 'a killed init container has failed',
    calls: [
      'Run(0) Create(i1/0) Start(i1/0) Create(i1/1) Start(i1/1)',
      'Stop(i1/1,2s) StopSB(0) Rm(i1/0) Rm(i1/1) StopSB(0) RmSB(0)',
    ].join(' '),
  },
  'kill-sandbox-never': {
    rule: 'a pod with policy Never does not get a second sandbox after its containers have started',
    calls: `Run(0) Create(main/0) Start(main/0) Stop(main/0,2s) ${END}`,
  },
  'kill-sandbox-onfailure': {
    rule: 'with policy OnFailure a succeeded container is not restarted in a new sandbox',
    calls: [
      'Run(0) Create(done/0) Start(done/0) Create(main/0) Start(main/0) Stop(main/0,2s) StopSB(0)',
      'Run(1) Create(main/1) Start(main/1) Stop(main/1,2s) StopSB(0) StopSB(1)',
      'Rm(done/0) Rm(main/0) Rm(main/1) StopSB(1) RmSB(1) StopSB(0) RmSB(0)',
    ].join(' '),
    messages: ['Pod sandbox changed, it will be killed and re-created.'],
  },
  'sec-capabilities': {
    rule: 'capabilities are passed on unchanged, and allowPrivilegeEscalation: false sets no_new_privs',
    calls: [
      'Run(0) Create(main/0) Start(main/0) Create(drop/0) Start(drop/0) Create(none/0) Start(none/0)',
      'Stop(drop/0,2s) Stop(main/0,2s) Stop(none/0,2s) StopSB(0) Rm(drop/0) Rm(main/0) Rm(none/0) StopSB(0) RmSB(0)',
    ].join(' '),
    requests: {
      'Create(main/0)': security({
        capabilities: {add_capabilities: ['NET_ADMIN', 'SYS_TIME'], drop_capabilities: ['ALL']},
      }),
      'Create(drop/0)': security({capabilities: {drop_capabilities: ['CHOWN']}, no_new_privs: true}),
      'Create(none/0)': security({capabilities: {}}),
    },
  },
  'sec-user': {
    rule: "a container's user and group override its pod's, and fsGroup precedes the supplemental groups",
    calls: [
      'Run(0) Create(main/0) Start(main/0) Create(own/0) Start(own/0) Create(zero/0) Start(zero/0)',
      'Stop(main/0,2s) Stop(own/0,2s) Stop(zero/0,2s) StopSB(0) Rm(main/0) Rm(own/0) Rm(zero/0) StopSB(0) RmSB(0)',
    ].join(' '),
    requests: {
      'Run(0)': security({
        run_as_user: {value: '1000'},
        run_as_group: {value: '3000'},
        supplemental_groups: ['2000', '4000', '5000'],
      }),
      'Create(main/0)': security({
        run_as_user: {value: '1000'},
        supplemental_groups: ['2000', '4000', '5000'],
      }),
      'Create(own/0)': security({
        run_as_user: {value: '1001'},
        run_as_group: {value: '3001'},
        readonly_rootfs: true,
      }),
      'Create(zero/0)': security({run_as_user: {}, run_as_group: {value: '3000'}}),
    },
  },
  'dns-none': {
    rule: 'dnsPolicy None uses only dnsConfig',
    calls: ONE_CONTAINER,
    requests: {
      'Run(0)': {
        config: {
          dns_config: {
            servers: ['192.0.2.99', '192.0.2.98'],
            searches: ['a.test', 'b.test.'],
            options: ['edns0', 'ndots:2'],
          },
        },
      },
    },
  },
  'dns-hostnet': {
    rule: "ClusterFirstWithHostNet uses the cluster's servers in the host's network",
    calls: ONE_CONTAINER,
    requests: {'Run(0)': {config: {dns_config: {servers: ['10.96.0.10'], options: ['ndots:5']}}}},
  },
  'env-expansion': {
    rule: 'a variable expands earlier ones, $$ is a dollar, and unknown or unclosed references are unchanged',
    calls: ONE_CONTAINER,
    requests: {
      'Create(main/0)': {
        config: {
          command: ['sh', '-c', 'echo againa $(A) $(NOPE) $A $(B; exec sleep 3600'],
          args: ['a-$(C)-$(A)', '$(UNDEF)', '$(B)', '$($(A))', ''],
          envs: [
            {key: 'A', value: 'againa'},
            {key: 'B', value: 'a-$(C)-$(A)'},
            {key: 'C', value: 'c'},
            {key: 'D', value: ''},
            {key: 'E', value: ''},
          ],
        },
      },
    },
  },
  'hostname-fqdn-long': {
    rule: 'a fully qualified name of more than 64 characters is rejected as host name, without a sandbox',
    calls: '',
    messages: [
      'Failed to create pod sandbox: failed to construct FQDN from pod hostname and cluster domain, FQDN a-host-name-that-is-rather-long-indeed.sub-domain-too.default.svc.cluster.local is too long (64 characters is the max, 79 characters requested)',
    ],
  },
  'hostname-override': {
    rule: 'hostnameOverride overrides hostname',
    calls: ONE_CONTAINER,
    requests: {'Run(0)': {config: {hostname: 'over.example.test'}}},
  },
  'res-burstable': {
    rule: "a sandbox has the maximum of the init containers' and the other containers' requests, and a Burstable score depends on the request",
    calls: [
      'Run(0) Create(i1/0) Start(i1/0) Create(side/0) Start(side/0) Create(a/0) Start(a/0) Create(b/0) Start(b/0)',
      'Create(c/0) Start(c/0) Stop(a/0,5s) Stop(b/0,5s) Stop(c/0,5s) Stop(side/0,2s) StopSB(0)',
      'Rm(a/0) Rm(b/0) Rm(c/0) Rm(i1/0) Rm(side/0) StopSB(0) RmSB(0)',
    ].join(' '),
    requests: {
      'Run(0)': resources({cpu_shares: '512', cpu_quota: '50000', memory_limit_in_bytes: '134217728'}),
      'Create(i1/0)': resources({oom_score_adj: '990'}),
      'Create(side/0)': resources({oom_score_adj: '999'}),
      'Create(a/0)': resources({cpu_shares: '102', cpu_quota: '50000', oom_score_adj: '958'}),
      'Create(b/0)': resources({memory_limit_in_bytes: '134217728', oom_score_adj: '998'}),
    },
  },
  overhead: {
    rule: "overhead is part of the sandbox's request and limit, but not of its containers' resources",
    calls: 'Run(0) Create(a/0) Start(a/0) Stop(a/0,5s) StopSB(0) Rm(a/0) StopSB(0) RmSB(0)',
    requests: {
      'Run(0)': {
        config: {
          linux: {
            overhead: {cpu_shares: '102', cpu_quota: '10000', memory_limit_in_bytes: '16777216'},
            resources: {cpu_shares: '102'},
          },
        },
      },
    },
  },
  'image-volume-missing': {
    rule: 'only a container whose image volume is missing is not started',
    calls: 'Run(0) Create(ok/0) Start(ok/0) Stop(ok/0,2s) StopSB(0) Rm(ok/0) StopSB(0) RmSB(0)',
    messages: [
      'Container image "localhost:5000/nosuch:1" is not present with pull policy of Never',
      'Error: ErrImageNeverPull',
    ],
  },
  'vol-rro': {
    rule: 'mounts are not recursively read-only without an API server',
    calls: ONE_CONTAINER,
    requests: {
      'Create(main/0)': {
        config: {
          mounts: [
            {container_path: '/a', host_path: '<KL>/host/p', readonly: true},
            {container_path: '/d', host_path: '<KL>/host/p', readonly: true},
            {container_path: '/etc/hosts'},
            {container_path: '/dev/termination-log'},
          ],
        },
      },
    },
  },
  'vol-propagation': {
    rule: 'mount propagation None is PRIVATE, which is the default value',
    calls: ONE_CONTAINER,
    requests: {
      'Create(main/0)': {
        config: {
          mounts: [
            {container_path: '/h2c', propagation: 'PROPAGATION_HOST_TO_CONTAINER'},
            {container_path: '/bi', propagation: 'PROPAGATION_BIDIRECTIONAL'},
            {container_path: '/none', readonly: true},
            {container_path: '/etc/hosts'},
            {container_path: '/dev/termination-log'},
          ],
        },
      },
    },
  },
  'update-image': {
    rule: 'a changed static pod is a new pod, which starts after the old one has terminated',
    calls: [
      'Run(0) Create(main/0) Start(main/0) Stop(main/0,3s) StopSB(0) Rm(main/0) StopSB(0) RmSB(0)',
      `Run(0) Pull(localhost:15397/busybox:1) Create(main/0) Start(main/0) Stop(main/0,3s) ${END}`,
    ].join(' '),
  },
  ports: {
    rule: 'ports without a host port are included, and duplicates within a container are omitted',
    calls:
      'Run(0) Create(a/0) Start(a/0) Create(b/0) Start(b/0) Stop(a/0,2s) Stop(b/0,2s) StopSB(0) Rm(a/0) Rm(b/0) StopSB(0) RmSB(0)',
    requests: {
      'Run(0)': {
        config: {
          port_mappings: [
            {container_port: 80},
            {container_port: 80, protocol: 'UDP'},
            {container_port: 81, protocol: 'SCTP'},
            {container_port: 80, host_ip: '<NODE_IP>'},
          ],
        },
      },
    },
  },
};

const SHORT: Readonly<Record<string, string>> = {
  RunPodSandbox: 'Run',
  CreateContainer: 'Create',
  StartContainer: 'Start',
  StopContainer: 'Stop',
  RemoveContainer: 'Rm',
  StopPodSandbox: 'StopSB',
  RemovePodSandbox: 'RmSB',
  PullImage: 'Pull',
  ExecSync: 'Exec',
};

/** Fields of requests that identify the call. */
interface RequestFields {
  readonly config?: {readonly metadata: {readonly name: string; readonly attempt?: number}};
  readonly container_id?: string;
  readonly pod_sandbox_id?: string;
  readonly image?: {readonly image: string};
  readonly timeout?: string;
}

/** Returns the method, the object, and the grace period or exit code of a call. */
function brief(call: CanonicalCall): string {
  const exit = (call.resp as {exit_code?: number} | undefined)?.exit_code;
  const ending = call.method === 'ExecSync' && exit !== undefined ? `=${exit}` : '';
  return `${SHORT[call.method] ?? call.method}(${subjectOf(call)})${ending}`;
}

function subjectOf({method, req}: CanonicalCall): string {
  const {
    config,
    container_id: container,
    pod_sandbox_id: sandbox,
    image,
    timeout = '0',
  } = req as RequestFields;
  if (config !== undefined) {
    const {name, attempt = 0} = config.metadata;
    return method === 'RunPodSandbox' ? `${attempt}` : `${name}/${attempt}`;
  }
  const subject = withoutPod(container ?? sandbox) ?? image?.image ?? '';
  return method === 'StopContainer' ? `${subject},${timeout}s` : subject;
}

/** Converts `<C:pod/main/0>` to `main/0`. */
function withoutPod(id: string | undefined): string | undefined {
  return id === undefined ? undefined : /^<\w+:[^/]*\/(.*)>$/.exec(id)?.[1];
}

/** Playing a case changes owners of directories. */
const isRoot = process.getuid?.() === 0;

describe.runIf(isRoot)("cases derived from the kubelet's rules without a recording (needs root)", () => {
  const cases = Object.entries(CASES).map(([name, expected]) => [name, expected.rule, expected] as const);

  test.each(cases)('%s: %s', async (name, _, {calls, requests = {}, messages = []}) => {
    const {lines, events} = await playCase(`../derived/${name}`);

    const made = lines.filter((line) => 'method' in line);
    expect(made.map(brief).join(' ')).toBe(calls);
    for (const [call, fields] of Object.entries(requests))
      expect(made.find((line) => brief(line) === call)?.req).toMatchObject(fields);
    expect(events.map(({message}) => message)).toEqual(expect.arrayContaining([...messages]));
  });
});
