import * as Flags from '@oclif/core/flags';
import {BaseCommand} from '../cli/command/base-command.js';
import {FROM_FLAG, listFlag, nonEmptyFlags} from '../cli/flags/flag-types.js';
import {NO_HEADERS_FLAG, outputFlags} from '../cli/output/parse-output-format.js';
import {exitCodeOf} from '../cli/output/render-error.js';
import {EXIT} from '../cli/process/exit-codes.js';
import {memoryFlag} from '../features/containers/resource-flags.js';
import {DOCTOR_FORMATS} from '../features/doctor/doctor-output.js';
import {runDoctor} from '../features/doctor/run-doctor.js';

export default class Doctor extends BaseCommand {
  static override nodes = 'several' as const;
  static override summary = 'Examine nodes and report what is wrong';
  static override description =
    'Prints a line for each check: ok, warning, failure, or skipped with the reason. What is not ok has details, and ' +
    'commands that help. Areas: runtime, kubelet, network, cgroups, kernel, disk, memory, time, leftovers, security.\n\n' +
    'Takes at most three seconds: what does not answer within two is skipped, or fails. Changes nothing. Without root, ' +
    'what cannot be read is skipped.\n\n' +
    'With --save, writes everything that "doctor" and "why" read, the lists of the runtime and the ends of the logs of ' +
    'containers to a file, for a colleague or a bug report, without secrets: values of variables, private keys, tokens and ' +
    'passwords. With --from, "doctor", "why", "get", "describe", "ps", "pods", "events" and "logs" read it on any machine.\n\n' +
    'A remote node is examined by its files and its runtime; what only a program on it can find out is skipped. With several ' +
    '--runtime-endpoint or --from, prints a table with a line about each node, and then what is not ok on each.\n\n' +
    'Exits with 0 if all checks are ok or skipped, with 1 if there are warnings, and with 2 if there are failures or ' +
    'nothing was examined.';
  static override usage = 'doctor [FLAGS]';
  static override examples = [
    '<%= config.bin %> doctor --only runtime,network/cni-config',
    '<%= config.bin %> doctor --save node.tgz',
    '<%= config.bin %> doctor -r ssh://root@node-1 -r ssh://root@node-2',
  ];
  static override flags = {
    only: listFlag({
      helpValue: 'AREA|ID',
      description:
        'Run only these checks, such as network or disk/space. Repeatable, or separated by commas.',
    }),
    ...nonEmptyFlags({
      save: Flags.string({
        helpValue: 'FILE',
        description:
          'Save the node to this file too, without secrets. "-" saves it to standard output, and writes the results to ' +
          'standard error.',
      }),
    }),
    ...FROM_FLAG,
    'max-size': memoryFlag({
      helpValue: 'SIZE',
      description:
        'Largest size of what --save writes, before compression, such as 16Mi, the default. Healthy pods and logs are left out first.',
    }),
    ...NO_HEADERS_FLAG,
    ...outputFlags(DOCTOR_FORMATS),
  };

  async run(): Promise<void> {
    try {
      const {flags} = await this.parse(Doctor);
      await runDoctor(this.services, flags);
    } catch (error) {
      if (exitCodeOf(error) === EXIT.failed) this.report.setExitCode(EXIT.nodeFailed);
      throw error;
    }
  }
}
