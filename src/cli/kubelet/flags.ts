import * as Flags from '@oclif/core/flags';
import type {OptionFlag} from '@oclif/core/interfaces';
import {UsageError} from '../../base/errors.js';
import {shownUrl} from '../../format/shown-url.js';
import {CONFIG_FIELDS, CONFIG_PATHS, type ConfigPath} from '../../kubelet/kubelet-config/fields.js';

/** What the help says of the fields that people set most by a flag; the others work without being shown. */
const SHOWN: Partial<Readonly<Record<ConfigPath, readonly [value: string, description: string]>>> = {
  staticPodPath: ['PATH', 'A directory of Pod manifests, or one manifest: its Pods are kept running.'],
  staticPodURL: ['URL', 'Where a manifest is fetched from.'],
  staticPodURLHeader: ['NAME:VALUE', 'A header of the request to --manifest-url; may be repeated.'],
  syncFrequency: ['DURATION', 'How often each pod is looked at, at the latest. [default: 1m]'],
  fileCheckFrequency: [
    'DURATION',
    'How often manifests are read again, besides when they change. [default: 20s]',
  ],
  httpCheckFrequency: ['DURATION', 'How often --manifest-url is fetched. [default: 20s]'],
  containerRuntimeEndpoint: ['ENDPOINT', 'Socket of the CRI runtime. [default: as --runtime-endpoint]'],
  imageServiceEndpoint: ['ENDPOINT', 'Socket of the image service. [default: that of the runtime]'],
  runtimeRequestTimeout: ['DURATION', 'How long a call to the runtime may take. [default: 2m]'],
  featureGates: ['NAME=BOOL', 'EventedPLEG=false: list the runtime each second, without its events.'],
  address: ['IP', 'Where HTTPS and the read-only port are served. [default: 127.0.0.1]'],
  port: ['PORT', 'The port of HTTPS. [default: 10250]'],
  readOnlyPort: ['PORT', 'A port that asks nobody who they are. [default: 0, none]'],
  healthzPort: ['PORT', 'The port of /healthz; 0 for none. [default: 10248]'],
  healthzBindAddress: ['IP', 'Where /healthz is served. [default: 127.0.0.1]'],
  enableServer: ['', 'Serve HTTPS at all. [default: true]'],
  tlsCertFile: ['FILE', "The server's certificate. [default: one is made, see --cert-dir]"],
  tlsPrivateKeyFile: ['FILE', "The key of the server's certificate."],
  'authentication.x509.clientCAFile': ['FILE', 'Who shows a certificate of these authorities is let in.'],
  'authentication.anonymous.enabled': ['', 'Let in who shows no certificate. [default: false]'],
  'logging.format': ['text|json', 'How the log is written. [default: text]'],
  'logging.verbosity': ['LEVEL', 'How much is logged. [default: 0]'],
  clusterDNS: ['IP', 'DNS servers for pods with dnsPolicy ClusterFirst.'],
  clusterDomain: ['DOMAIN', "The cluster's DNS domain."],
  resolvConf: ['FILE', 'The resolver configuration that pods start from. [default: /etc/resolv.conf]'],
  podLogsDir: ['DIR', 'Where container logs go. [default: /var/log/pods]'],
  maxPods: ['COUNT', 'How many pods the node takes. [default: 110]'],
  podPidsLimit: ['COUNT', 'How many processes a pod may have. [default: any number]'],
  cgroupRoot: ['PATH', 'The cgroup that /kubepods is made in. [default: /]'],
  cgroupDriver: ['cgroupfs|systemd', 'How pod cgroups are named. [default: what the runtime says]'],
  seccompDefault: ['', 'Use RuntimeDefault for containers without a seccomp profile.'],
  allowedUnsafeSysctls: ['NAME', 'Sysctls that pods may set beside the safe ones.'],
  failSwapOn: ['', 'Refuse to start on a node with swap; pods have none. [default: false]'],
};

/** A flag that was not given has no value, so that a file counts. */
const notGiven = async (): Promise<boolean> => await Promise.resolve(undefined as unknown as boolean);

function flagOf(path: ConfigPath): OptionFlag<string[] | undefined> | ReturnType<typeof Flags.boolean> {
  const [helpValue, text] = SHOWN[path] ?? ['VALUE', `The field ${path} of a KubeletConfiguration.`];
  const shape = {helpGroup: 'KUBELET', description: text, hidden: !Object.hasOwn(SHOWN, path)};
  return CONFIG_FIELDS[path].type.name === 'boolean'
    ? Flags.boolean({...shape, default: notGiven})
    : Flags.custom<string[]>({multiple: true})({...shape, helpValue});
}

/** The kubelet's flags that stand for fields of a KubeletConfiguration, from its table. */
export const CONFIG_FLAGS = Object.fromEntries(
  CONFIG_PATHS.flatMap((path) => {
    const {flag} = CONFIG_FIELDS[path];
    return flag === undefined ? [] : [[flag, flagOf(path)]];
  }),
);

/** What was given of them, as it was written. */
export function configFlagTexts(
  flags: Readonly<Record<string, unknown>>,
): ReadonlyMap<string, readonly string[]> {
  const given = Object.keys(CONFIG_FLAGS).flatMap((name): (readonly [string, readonly string[]])[] => {
    const value = flags[name];
    if (value === undefined) return [];
    return [[name, Array.isArray(value) ? (value as string[]) : [value === true ? 'true' : 'false']]];
  });
  return new Map(given);
}

/** How flags are shown whose values may let somebody in. */
const SHOWN_SECRETS: Readonly<Record<string, (value: string) => string>> = {
  'manifest-url': (value) => (URL.canParse(value) ? shownUrl(new URL(value)) : value),
  'manifest-url-header': () => 'CLASSIFIED',
};

/** The flags that were given, as /flagz shows them: what is secret is not. */
export function shownFlags(flags: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> {
  const given = Object.entries(flags).filter(([, value]) => value !== undefined);
  return Object.fromEntries(
    given.map(([name, value]) => [name, SHOWN_SECRETS[name]?.(String(value)) ?? String(value)]),
  );
}

const NO_CLUSTER = 'there is no API server';

/** Flags of a kubelet that change nothing here; why. */
const WITHOUT_EFFECT: Readonly<Record<string, string>> = {
  'register-schedulable': NO_CLUSTER,
  'cloud-provider': NO_CLUSTER,
  'cloud-config': NO_CLUSTER,
  'exit-on-lock-contention': 'kcri locks its root directory',
  'lock-file': 'kcri locks its root directory',
  'experimental-allocatable-ignore-eviction':
    'pods may have of the node what is left after the default thresholds',
  'experimental-mounter-path': 'volumes are mounted by kcri itself',
  'keep-terminated-pod-volumes': 'the volumes of ended pods are removed',
  'container-runtime': 'the runtime is one that speaks CRI',
  'pod-infra-container-image': "the runtime's configuration names the image",
};

/** What would make the kubelet one of a cluster; it must not be passed over. */
const OF_A_CLUSTER = ['kubeconfig', 'bootstrap-kubeconfig'] as const;

/** Flags that kcri takes without heeding them, so that a kubelet's command line is one of kcri's. */
export const UNHEEDED_FLAGS = Object.fromEntries(
  [...Object.keys(WITHOUT_EFFECT), ...OF_A_CLUSTER].map((name) => [
    name,
    Flags.string({hidden: true, description: WITHOUT_EFFECT[name] ?? NO_CLUSTER}),
  ]),
);

/** A flag that was given and has no effect; why. */
export interface IgnoredFlag {
  readonly flag: string;
  readonly reason: string;
}

/** What to tell of them at the start. Throws UsageError for those of a cluster. */
export function unheeded(flags: Readonly<Record<string, unknown>>): readonly IgnoredFlag[] {
  for (const name of OF_A_CLUSTER)
    if ((flags[name] ?? '') !== '')
      throw new UsageError(`--${name} is given, but kcri's kubelet serves no API server`, {
        hint: `leave out --${name}: pods come from --pod-manifest-path and --manifest-url`,
      });
  return Object.entries(WITHOUT_EFFECT).flatMap(([name, reason]) =>
    flags[name] === undefined ? [] : [{flag: `--${name}`, reason}],
  );
}
