import {SystemError, type KcriErrorOptions} from '../../../base/errors.js';

/** Reports a volume for which there is no plugin now (ErrNoPluginMatched); the driver of a FlexVolume can appear later. */
export class NoPluginError extends SystemError {
  /** Creates the error for the name of a volume, with what is missing. */
  constructor(volume: string, missing: string | undefined, options: KcriErrorOptions) {
    const cause = missing === undefined ? '' : `: ${missing}`;
    const text = `failed to get Plugin from volumeSpec for volume ${JSON.stringify(volume)} err=no volume plugin matched`;
    super(`${text}${cause}`, options);
  }
}
