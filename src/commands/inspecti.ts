import * as Flags from '@oclif/core/flags';
import {imageArgs} from '../cli/arguments.js';
import {listFlag} from '../cli/flags.js';
import {INSPECT_FLAGS, InspectCommand} from '../cli/inspect-command.js';
import {imageStatusJson} from '../cli/views/status-json.js';
import {imageStatusText} from '../cli/views/status-text.js';
import {listImages, type ImageQuery} from '../operations/images.js';
import {inspectImage} from '../operations/inspect.js';
import {nothingFound, type Target} from '../operations/resolve.js';
import {withContext} from '../operations/with-context.js';

export default class Inspecti extends InspectCommand {
  static override summary = 'Show all about images';
  static override description = 'Without names, all images that the filters let through.';
  static override usage = 'inspecti [IMAGE...] [OPTIONS]';
  static override args = imageArgs;
  static override flags = {
    ...INSPECT_FLAGS,
    name: Flags.string({description: 'Only images of this name, with any tag unless it has one.'}),
    filter: listFlag({
      char: 'f',
      description:
        'Only images that fit: dangling=true|false, reference=REGULAR-EXPRESSION, before=IMAGE, since=IMAGE.',
    }),
  };

  async run(): Promise<void> {
    const {args, flags} = await this.parse(Inspecti);
    await this.checkFormat(flags);
    const given = args.image ?? [];
    const refs = given.length > 0 ? given : await this.#chosen({name: flags.name, filters: flags.filter});
    const {images} = await this.cri();
    const {signal} = this;
    await this.inspect(flags, {
      targets: refs.map((ref): Target<string> => ({kind: 'found', ref, id: ref})),
      fetch: async (ref, verbose) => await inspectImage(images, ref, {verbose, signal}),
      json: imageStatusJson,
      text: imageStatusText,
    });
  }

  async #chosen(query: ImageQuery): Promise<readonly string[]> {
    const {images} = await this.cri();
    const chosen = withContext('listing images', listImages(images, query, this.signal));
    const ids = (await chosen).map(({id}) => id);
    if (ids.length === 0) throw nothingFound('kcri images');
    return ids;
  }
}
