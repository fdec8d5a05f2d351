import {BaseCommand} from '../cli/base-command.js';
import {formOf, outputFlag, sortedText, templateFlag} from '../cli/formats.js';
import {crictlFilesystemLines, filesystemColumns, filesystemRows} from '../cli/views/filesystems.js';
import {toJson} from '../cri/index.js';
import {renderTable} from '../format/table.js';
import {withContext} from '../operations/with-context.js';

const FORMATS = ['json', 'yaml', 'table'] as const;

export default class Imagefsinfo extends BaseCommand {
  static override summary = 'Show how much of its file systems the runtime uses';
  static override description = 'Those of images and, where the runtime tells them apart, of containers.';
  static override usage = 'imagefsinfo [OPTIONS]';
  static override examples = [
    '<%= config.bin %> imagefsinfo -o table',
    "<%= config.bin %> imagefsinfo | jq -r '.status.imageFilesystems[0].usedBytes.value'",
  ];
  static override flags = {output: outputFlag(FORMATS), template: templateFlag};

  async run(): Promise<void> {
    const {flags} = await this.parse(Imagefsinfo);
    const form = await formOf(flags, FORMATS, this);
    const {images} = await this.cri();
    const info = await withContext(
      'image filesystem info request',
      images.imageFsInfo({}, {signal: this.signal}),
    );
    if (form.kind !== 'table')
      this.print(await sortedText(form, {status: toJson('ImageFsInfoResponse', info, {emitDefaults: true})}));
    else if (this.compat) this.stdout.write(crictlFilesystemLines(info));
    else this.show(renderTable(filesystemColumns(this.context.clock.now()), filesystemRows(info)));
  }
}
