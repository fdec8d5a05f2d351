import * as Args from '@oclif/core/args';
import {BaseCommand} from '../cli/command/base-command.js';
import {listFlag} from '../cli/flags/flag-types.js';
import {STREAMING_FLAGS} from '../features/sessions/streaming-flags.js';
import {SELECTOR_FLAG} from '../features/containers/select-containers.js';
import {forwardPorts} from '../features/port-forward/forward-ports.js';

export default class PortForward extends BaseCommand {
  static override nodes = 'one' as const;
  static override summary = 'Forward local ports to a pod';
  static override description =
    'Connections to a local port are forwarded to a port on localhost inside the pod, until Ctrl-C or ' +
    'until the pod stops. Prints a line for each forwarded port and for each connection.\n\nIf the pod ' +
    'refuses a connection, only that connection is reset. After a restart of the runtime, new ' +
    'connections work again. Of a workload, and with --selector, one pod is chosen.';
  static override usage = 'port-forward [FLAGS] POD [LOCAL:]REMOTE...';
  static override strict = false;
  static override args = {
    pod: Args.string({
      ignoreStdin: true,
      description: 'ID, ID prefix, name, or NAMESPACE/NAME of the pod; or a workload such as deployment/web.',
    }),
    port: Args.string({
      ignoreStdin: true,
      multiple: true,
      description:
        'Local and remote port. A single port is both: 8080 means 8080:8080. With :PORT or 0:PORT, a free ' +
        'local port is used.',
    }),
  };
  static override flags = {
    ...STREAMING_FLAGS,
    ...SELECTOR_FLAG,
    address: listFlag({
      helpValue: 'IP',
      description:
        'Local IP address to listen on; localhost means 127.0.0.1 and ::1. Can be repeated. [default: ' +
        'localhost]',
    }),
  };
  static override examples = [
    '<%= config.bin %> port-forward web 8080:80',
    '<%= config.bin %> port-forward deployment/web :80 :443',
    '<%= config.bin %> port-forward default/web 8080 --address=0.0.0.0',
  ];

  async run(): Promise<void> {
    const {argv, flags} = await this.parse(PortForward);
    await forwardPorts(this.services, argv as string[], flags);
  }
}
