import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import {BaseCommand} from '../cli/base-command.js';
import {formOf, messageText, outputFlag} from '../cli/formats.js';
import {listFlag} from '../cli/flags.js';
import {imageBlock, imageColumns, imageRows} from '../cli/views/images.js';
import {renderTable} from '../format/table.js';
import {listImages} from '../operations/images.js';
import {withContext} from '../operations/with-context.js';

const FORMATS = ['table', 'json', 'yaml'] as const;

export default class Images extends BaseCommand {
  static override summary = 'List images';
  static override aliases = ['image', 'img'];
  static override usage = 'images [REPOSITORY[:TAG]] [OPTIONS]';
  static override args = {
    repository: Args.string({description: 'Only images of this name, with any tag unless it has one.'}),
  };
  static override flags = {
    filter: listFlag({
      char: 'f',
      description:
        'Only images that fit: dangling=true|false, reference=REGULAR-EXPRESSION, before=IMAGE, since=IMAGE.',
    }),
    quiet: Flags.boolean({char: 'q', description: 'Print ids only.'}),
    verbose: Flags.boolean({char: 'v', description: 'Print everything about each image.'}),
    digests: Flags.boolean({description: 'Show digests.'}),
    pinned: Flags.boolean({description: 'Show whether the runtime keeps an image for itself.'}),
    'no-trunc': Flags.boolean({description: 'Print whole ids.'}),
    output: outputFlag(FORMATS),
  };

  async run(): Promise<void> {
    const {args, flags} = await this.parse(Images);
    const form = await formOf(flags, FORMATS);
    const query = {name: args.repository, filters: flags.filter};
    const services = await this.cri();
    const images = await withContext('listing images', listImages(services.images, query, this.signal));
    if (form.kind !== 'table') this.print(await messageText(form, 'ListImagesResponse', {images}));
    else if (flags.quiet) this.printAll(images, ({id}) => `${id}\n`);
    else if (flags.verbose) this.printAll(images, imageBlock);
    else {
      const columns = imageColumns({digests: flags.digests, full: flags['no-trunc'], pinned: flags.pinned});
      this.stdout.write(renderTable(columns, imageRows(images)));
    }
  }
}
