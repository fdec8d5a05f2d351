import {SystemError} from '../../../../base/errors.js';
import {goQuote} from '../../../../format/go-quote.js';
import type {DraVersion} from '../../../../plugin-api/connect-plugin.js';
import type {RegisteredPlugin} from '../../../contract/resources/plugin-handler.js';

/** Services that a driver can name, by their names in its registration; the newest first. */
const SERVICES: Readonly<Record<string, DraVersion>> = {
  'v1.DRAPlugin': 'v1',
  'v1beta1.DRAPlugin': 'v1beta1',
};

/**
 * Returns the version that is used with a driver: the first of its list that is supported (validateSupportedServices).
 *
 * @throws SystemError with the kubelet's text if there is none.
 */
export function chooseVersion({name, endpoint, versions}: RegisteredPlugin): DraVersion {
  const chosen = versions.find((version) => Object.hasOwn(SERVICES, version));
  const version = chosen === undefined ? undefined : SERVICES[chosen];
  if (version !== undefined) return version;
  const problem =
    versions.length === 0
      ? 'empty list of supported gRPC services (aka supported versions)'
      : `none of services supported by the plugin (${quoteList(versions)}) are supported by the kubelet (${quoteList(Object.keys(SERVICES))})`;
  throw new SystemError(
    `invalid supported gRPC versions of DRA driver plugin ${name} at endpoint ${endpoint}: ${problem}`,
  );
}

function quoteList(texts: readonly string[]): string {
  return `[${texts.map(goQuote).join(' ')}]`;
}
