import * as Flags from '@oclif/core/flags';
import {durationFlag, integerFlag} from './flags.js';

/**
 * The flags of every command. They may stand before the command, as crictl wants them, or behind it as long
 * as the command has no flag of that name or letter.
 */
export const GLOBAL_FLAGS = {
  config: Flags.string({
    char: 'c',
    helpGroup: 'GLOBAL',
    helpValue: 'FILE',
    description: 'Config file to read. [env: CRI_CONFIG_FILE] [default: /etc/crictl.yaml]',
  }),
  'runtime-endpoint': Flags.string({
    char: 'r',
    helpGroup: 'GLOBAL',
    helpValue: 'ENDPOINT',
    description:
      'Socket of the CRI runtime, such as unix:///run/containerd/containerd.sock. [env: CONTAINER_RUNTIME_ENDPOINT] ' +
      '[default: the first of the usual sockets that answers, then the runtime that "kcri runtime up" started]',
  }),
  'image-endpoint': Flags.string({
    char: 'i',
    helpGroup: 'GLOBAL',
    helpValue: 'ENDPOINT',
    description: 'Socket of the image service. [env: IMAGE_SERVICE_ENDPOINT] [default: the runtime endpoint]',
  }),
  timeout: durationFlag({
    char: 't',
    helpGroup: 'GLOBAL',
    helpValue: 'DURATION',
    description:
      'How long one call to the runtime may take, such as 5s or 2m; 0 or less is the default. Starting a pod may ' +
      'take twice as long, stopping a container its grace period more, pulling as long as it takes. [default: 2m0s, ' +
      "the kubelet's]",
  }),
  debug: Flags.boolean({
    char: 'D',
    helpGroup: 'GLOBAL',
    description:
      "Show each request and answer as a line of JSON on standard error, secrets masked, and an error's causes.",
  }),
  'max-retries': integerFlag({
    helpGroup: 'GLOBAL',
    helpValue: 'N',
    description:
      'How often to try again, after 0.5, 1, 2, 4, 5 seconds and so on, when nothing answers at the endpoint; less ' +
      'than 0 is for ever. [default: 0]',
  }),
  'enable-tracing': Flags.boolean({
    helpGroup: 'GLOBAL',
    description: 'Send a trace of the command and of its calls to an OpenTelemetry collector.',
  }),
  'tracing-endpoint': Flags.string({
    helpGroup: 'GLOBAL',
    helpValue: 'HOST:PORT',
    description: 'Where that collector takes OTLP over gRPC, without TLS. [default: 127.0.0.1:4317]',
  }),
  'tracing-sampling-rate-per-million': integerFlag({
    helpGroup: 'GLOBAL',
    helpValue: 'N',
    description:
      'How many of a million traces are sent; 1000000 or less than 0 is all of them. [default: -1]',
  }),
  'profile-cpu': Flags.string({
    helpGroup: 'GLOBAL',
    helpValue: 'FILE',
    description: "Write a CPU profile of kcri, V8's .cpuprofile, as Chrome's developer tools read it.",
  }),
  'profile-mem': Flags.string({
    helpGroup: 'GLOBAL',
    helpValue: 'FILE',
    description: "Write a profile of kcri's memory, V8's .heapprofile.",
  }),
  'root-dir': Flags.string({
    helpGroup: 'GLOBAL',
    helpValue: 'DIR',
    description: "Where kcri keeps its pods' state. [env: KCRI_ROOT_DIR] [default: /var/lib/kcri]",
  }),
};
