import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import {BaseCommand} from '../cli/command/base-command.js';
import {POD_CONTAINER_FLAG} from '../features/containers/select-containers.js';

const PATH = 'CONTAINER:PATH, a local path, or "-" for a tar archive on standard';

export default class Cp extends BaseCommand {
  static override summary = 'Copy files and directories to and from containers';
  static override description =
    'Reads and writes the root filesystem of the container and its volumes, so that the container needs no ' +
    'tar or shell. Owners, modes and times are kept; owners only by root. PATH is relative to the root ' +
    'directory of the container, and its links never lead out of it.\n\nA directory is copied into an ' +
    'existing directory, or else gets the name of the destination; DIR/. copies only its content. Symbolic ' +
    'links are copied as links, and links in the destination are not followed, except those in its PATH. ' +
    'Devices, FIFOs and sockets are skipped. A file appears only when it is complete.\n\nA local path ' +
    'with a colon must start with "/" or ".". Must run as root on the machine of the container.';
  static override usage = 'cp [FLAGS] SOURCE DESTINATION';
  static override examples = [
    '<%= config.bin %> cp web:/etc/nginx ./backup',
    '<%= config.bin %> cp site/. shop/web/main:/usr/share/www',
    'tar c . | <%= config.bin %> cp - web:/srv',
  ];
  static override strict = false;
  static override args = {
    source: Args.string({ignoreStdin: true, description: `${PATH} input.`}),
    destination: Args.string({ignoreStdin: true, description: `${PATH} output.`}),
  };
  static override flags = {
    ...POD_CONTAINER_FLAG,
    'follow-link': Flags.boolean({
      char: 'L',
      description: 'If SOURCE is a symbolic link, copy the file or directory to which it leads.',
    }),
    archive: Flags.boolean({
      char: 'a',
      description: 'Keep owners and modes, as without this flag; for those who are used to docker.',
    }),
    'no-preserve': Flags.boolean({
      description: 'Do not keep owners and modes: files belong to the user, or to root in the container.',
    }),
  };

  async run(): Promise<void> {
    const {argv, flags} = await this.parse(Cp);
    const {runCopy} = await import('../features/files/copy-command.js');
    await runCopy(this.services, argv as string[], flags);
  }
}
