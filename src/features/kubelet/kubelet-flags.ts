import * as Flags from '@oclif/core/flags';
import type {OptionFlag} from '@oclif/core/interfaces';
import {UsageError} from '../../base/errors.js';
import {withChoices} from '../../cli/flags/flag-types.js';
import {
  CONFIG_FIELDS,
  CONFIG_PATHS,
  type ConfigPath,
} from '../../kubelet/configuration/fields-and-defaults/kubelet-config-defaults.js';

/** Placeholder, description and, if the set is closed, values of flags in the help; see describeField for the others. */
const SHOWN: Partial<
  Readonly<Record<ConfigPath, readonly [value: string, description: string, choices?: readonly string[]]>>
> = {
  staticPodPath: ['PATH', 'Directory of Pod manifests, or a single manifest, to run.'],
  staticPodURL: ['URL', 'URL of a Pod manifest to run.'],
  staticPodURLHeader: ['NAME:VALUE', 'HTTP header of the request to --manifest-url. Can be repeated.'],
  syncFrequency: ['DURATION', 'Maximum time between two syncs of a pod. [default: 1m]'],
  fileCheckFrequency: [
    'DURATION',
    'Interval of reading all manifests again, in addition to file events. [default: 20s]',
  ],
  httpCheckFrequency: ['DURATION', 'Interval of fetching --manifest-url. [default: 20s]'],
  containerRuntimeEndpoint: ['ENDPOINT', 'Endpoint of the CRI runtime. [default: --runtime-endpoint]'],
  imageServiceEndpoint: ['ENDPOINT', 'Endpoint of the image service. [default: the runtime endpoint]'],
  runtimeRequestTimeout: ['DURATION', 'Timeout of a call to the runtime. [default: 2m]'],
  featureGates: [
    'NAME=BOOL',
    'Feature gates; EventedPLEG=false relists every second instead of using runtime events.',
  ],
  address: [
    'IP',
    'Address of the HTTPS server and the read-only port. [default: 127.0.0.1; 0.0.0.0 with --kubeconfig]',
  ],
  port: ['PORT', 'Port of the HTTPS server. [default: 10250]'],
  readOnlyPort: ['PORT', 'Unauthenticated read-only port. [default: 0, disabled]'],
  healthzPort: ['PORT', 'Port of /healthz; 0 disables it. [default: 10248]'],
  healthzBindAddress: ['IP', 'Address of /healthz. [default: 127.0.0.1]'],
  enableServer: ['', 'Enable the HTTPS server. [default: true]'],
  tlsCertFile: ['FILE', 'Serving certificate. [default: generated, see --cert-dir]'],
  tlsPrivateKeyFile: ['FILE', 'Private key of the serving certificate.'],
  'authentication.x509.clientCAFile': ['FILE', 'CA bundle for client-certificate authentication.'],
  'authentication.anonymous.enabled': ['', 'Allow anonymous requests. [default: false]'],
  'logging.format': ['FORMAT', 'Log format. [default: text]', ['text', 'json']],
  'logging.verbosity': ['LEVEL', 'Log verbosity. [default: 0]'],
  'logging.vmodule': [
    'PATTERN=N,...',
    'Log verbosity of the source files whose names match, as the lines show them.',
  ],
  clusterDNS: ['IP', 'DNS servers for pods with dnsPolicy ClusterFirst.'],
  clusterDomain: ['DOMAIN', 'DNS domain of the cluster.'],
  resolvConf: ['FILE', 'Resolver configuration file that pods inherit. [default: /etc/resolv.conf]'],
  podLogsDir: ['DIR', 'Directory of the container logs. [default: /var/log/pods]'],
  maxPods: ['N', 'Maximum number of pods on the node. [default: 110]'],
  podPidsLimit: ['N', 'Maximum number of processes per pod. [default: no limit]'],
  cgroupRoot: ['PATH', 'Parent cgroup of /kubepods. [default: /]'],
  cgroupDriver: ['DRIVER', 'Cgroup driver. [default: as reported by the runtime]', ['cgroupfs', 'systemd']],
  seccompDefault: ['', 'Use RuntimeDefault as the default seccomp profile.'],
  allowedUnsafeSysctls: ['NAME', 'Unsafe sysctls that pods may set.'],
  failSwapOn: ['', 'Fail to start if swap is enabled on the node. [default: false]'],
};

/** Returns undefined as the default of a boolean flag, so that the config file applies. */
export const noDefault = async (): Promise<boolean> => await Promise.resolve(undefined as unknown as boolean);

function createConfigFlag(
  path: ConfigPath,
): OptionFlag<string[] | undefined> | ReturnType<typeof Flags.boolean> {
  const own = SHOWN[path];
  const [helpValue, text, choices] = own ?? ['VALUE', describeField(path)];
  const shape = {helpGroup: own === undefined ? groupOf(path) : 'KUBELET', description: text};
  if (CONFIG_FIELDS[path].type.name === 'boolean') return Flags.boolean({...shape, default: noDefault});
  const flag = Flags.custom<string[]>({multiple: true})({...shape, helpValue});
  return choices === undefined ? flag : withChoices(flag, choices);
}

/** Returns the group in the help of the flag of a field that needs no words of its own. */
const groupOf = (path: ConfigPath): string => (reasonToIgnore(path) === undefined ? 'FIELD' : 'IGNORED');

/** Returns why the flag of a field has no effect; undefined if it has one, if only with an API server. */
function reasonToIgnore(path: ConfigPath): string | undefined {
  const {use, inCluster} = CONFIG_FIELDS[path];
  return use.kind === 'honored' || inCluster !== undefined ? undefined : use.reason;
}

/** Describes the flag of a field that needs no words of its own: its default, or why it has no effect. */
function describeField(path: ConfigPath): string {
  const {use, default: fallback} = CONFIG_FIELDS[path];
  const field = `Field ${path} of the KubeletConfiguration.`;
  const reason = reasonToIgnore(path);
  if (reason !== undefined) return `${field} Has no effect: ${reason}.`;
  const value = typeof fallback === 'string' ? fallback : JSON.stringify(fallback ?? '');
  const isEmpty = ['', '""', '[]', '{}'].includes(value);
  const needs = use.kind === 'honored' ? '' : ' Requires --kubeconfig.';
  return `${field}${needs}${isEmpty ? '' : ` [default: ${value}]`}`;
}

/** Flags that set fields of the KubeletConfiguration. */
export const CONFIG_FLAGS = Object.fromEntries(
  CONFIG_PATHS.flatMap((path) => {
    const {flag} = CONFIG_FIELDS[path];
    return flag === undefined ? [] : [[flag, createConfigFlag(path)]];
  }),
);

/** Returns the unparsed values of the given configuration flags, by flag name. */
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

/** Functions that mask credentials in the values of flags, by flag name. */
const REDACTORS = new Map<string, (text: string) => string>([
  ...Object.values(CONFIG_FIELDS).flatMap(({flag, type: {redaction}}) =>
    flag === undefined || redaction === undefined ? [] : [[flag, redaction.flagText] as const],
  ),
  // Without effect, but a secret.
  ['storage-driver-password', () => '***'],
]);

/** Returns the given flags as /flagz shows them, with secrets redacted. */
export function redactFlags(flags: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> {
  const given = Object.entries(flags).filter(([, value]) => value !== undefined);
  return Object.fromEntries(
    given.map(([name, value]) => {
      const texts = Array.isArray(value) ? value.map(String) : [String(value)];
      return [name, texts.map((text) => REDACTORS.get(name)?.(text) ?? text).join(',')];
    }),
  );
}

/** Flags about the cloud that the node belongs to. */
export const CLOUD_FLAGS = {
  'cloud-provider': Flags.string({
    helpGroup: 'KUBELET',
    helpValue: 'PROVIDER',
    description:
      'Set to external if a cloud controller manager initializes the node and sets its addresses. [default: none]',
  }),
};

/** Reports whether the value of --cloud-provider is external. Throws UsageError for the name of a provider. */
export function isExternalCloud(provider: string | undefined): boolean {
  if (provider === undefined || provider === '' || provider === 'external') return provider === 'external';
  throw new UsageError(
    `cloud provider "${provider}" was specified, but built-in cloud providers are disabled`,
    {hint: 'set --cloud-provider=external, and run the cloud controller manager of the provider'},
  );
}

/** Kubeconfig files; undefined for flags that are not set. */
export interface KubeconfigFlags {
  /** Cluster to join. */
  readonly kubeconfig: string | undefined;
  /** Credentials with which the kubeconfig is obtained. */
  readonly bootstrapKubeconfig: string | undefined;
}

/** Returns the kubeconfig files of the flags. Throws UsageError for --bootstrap-kubeconfig alone. */
export function kubeconfigFlags(flags: {
  readonly kubeconfig?: string | undefined;
  readonly 'bootstrap-kubeconfig'?: string | undefined;
}): KubeconfigFlags {
  const [kubeconfig, bootstrapKubeconfig] = [flags.kubeconfig, flags['bootstrap-kubeconfig']].map((file) =>
    file === '' ? undefined : file,
  );
  if (bootstrapKubeconfig !== undefined && kubeconfig === undefined)
    throw new UsageError('--bootstrap-kubeconfig requires --kubeconfig', {
      hint: 'set --kubeconfig to the file that the kubelet writes when it has a certificate',
    });
  return {kubeconfig, bootstrapKubeconfig};
}
