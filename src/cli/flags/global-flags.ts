import * as Flags from '@oclif/core/flags';
import {durationFlag, integerFlag} from './flag-types.js';

/**
 * Flags of all commands. They can precede the command, as in crictl, or follow it if the command has no flag with that
 * name or letter.
 */
export const GLOBAL_FLAGS = {
  config: Flags.string({
    char: 'c',
    helpGroup: 'GLOBAL',
    helpValue: 'FILE',
    description: 'Path of the config file. [env: CRI_CONFIG_FILE] [default: /etc/crictl.yaml]',
  }),
  'runtime-endpoint': Flags.string({
    char: 'r',
    helpGroup: 'GLOBAL',
    helpValue: 'ENDPOINT',
    multiple: true,
    description:
      'Endpoint of the CRI runtime: a unix:// socket or ssh://[USER@]HOST; several for lists. [env: ' +
      'CONTAINER_RUNTIME_ENDPOINT] [default: the first well-known socket that answers, then the private ' +
      'containerd]',
  }),
  'image-endpoint': Flags.string({
    char: 'i',
    helpGroup: 'GLOBAL',
    helpValue: 'ENDPOINT',
    description:
      'Endpoint of the image service. [env: IMAGE_SERVICE_ENDPOINT] [default: the runtime endpoint]',
  }),
  timeout: durationFlag({
    char: 't',
    helpGroup: 'GLOBAL',
    helpValue: 'DURATION',
    description:
      'Timeout of a call to the runtime, such as 5s or 2m; 0 or less means the default. Running a pod ' +
      'may take twice as long, stopping a container its grace period longer; pulling has no timeout. ' +
      '[default: 2m0s]',
  }),
  debug: Flags.boolean({
    char: 'D',
    helpGroup: 'GLOBAL',
    description:
      'Log every request and response as JSON to standard error, with secrets masked, and print the ' +
      'causes of errors.',
  }),
  'max-retries': integerFlag({
    helpGroup: 'GLOBAL',
    helpValue: 'N',
    description:
      'Maximum number of connection retries, with a delay that grows from 0.5 to 5 ' +
      'seconds; a negative number means no limit. [default: 0]',
  }),
  'enable-tracing': Flags.boolean({
    helpGroup: 'GLOBAL',
    description: 'Send a trace of the command and its calls to an OpenTelemetry collector.',
  }),
  'tracing-endpoint': Flags.string({
    helpGroup: 'GLOBAL',
    helpValue: 'HOST:PORT',
    description:
      'Address of the OpenTelemetry collector (OTLP over gRPC, without TLS). [default: 127.0.0.1:4317]',
  }),
  'tracing-sampling-rate-per-million': integerFlag({
    helpGroup: 'GLOBAL',
    helpValue: 'N',
    description:
      'Number of samples per million traces; 1000000 or a negative number samples all. [default: -1]',
  }),
  'profile-cpu': Flags.string({
    helpGroup: 'GLOBAL',
    helpValue: 'FILE',
    description: 'Write a CPU profile of kcri to a file, in the .cpuprofile format of V8.',
  }),
  'profile-mem': Flags.string({
    helpGroup: 'GLOBAL',
    helpValue: 'FILE',
    description: 'Write a heap profile of kcri to a file, in the .heapprofile format of V8.',
  }),
  'root-dir': Flags.string({
    helpGroup: 'GLOBAL',
    helpValue: 'DIR',
    description: 'Directory of all state of kcri. [env: KCRI_ROOT_DIR] [default: /var/lib/kcri]',
  }),
};
