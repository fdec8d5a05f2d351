import {LIST_FORMATS, type ListContainersStrategy} from './collect-containers.js';
import type {ListImagesStrategy} from './collect-images.js';
import type {ListPodsStrategy} from './collect-pods.js';
import {parseOutputFormat} from '../../cli/output/parse-output-format.js';
import {
  checkLabels,
  crictlPodOf,
  listCrictlContainers,
  listCrictlImages,
  listCrictlSandboxes,
  listCrictlTags,
  withErrorContext,
} from './crictl-lists.js';

/*
 * crictl checks -o only after it has fetched the list.
 */

/** Lists containers as `crictl ps` does. */
export const listContainersAsCrictl: ListContainersStrategy = async (services, flags) => {
  const {connections, signal} = services;
  const connection = await connections.default();
  checkLabels(flags);
  const containers = await withErrorContext('listing containers: list containers', () =>
    listCrictlContainers(connection, flags, signal),
  );
  const form = await parseOutputFormat(flags, LIST_FORMATS, services);
  const rows = containers.map((container) => ({container, pod: crictlPodOf(container)}));
  const tags = () =>
    withErrorContext('listing containers', () =>
      listCrictlTags(connection.images, containers, {full: flags['no-trunc'], signal}),
    );
  return {form, rows, connection, tags};
};

/** Lists sandboxes as `crictl pods` does. */
export const listPodsAsCrictl: ListPodsStrategy = async (services, flags) => {
  const {runtime} = await services.connections.default();
  checkLabels(flags);
  const items = await withErrorContext('listing pod sandboxes: list pod sandboxes', () =>
    listCrictlSandboxes(runtime, flags, services.signal),
  );
  return {form: await parseOutputFormat(flags, LIST_FORMATS, services), items};
};

/** Lists images as `crictl images` does. */
export const listImagesAsCrictl: ListImagesStrategy = async (services, name, flags) => {
  const connection = await services.connections.default();
  const images = await listCrictlImages(connection.images, {name, filters: flags.filter}, services.signal);
  return {form: await parseOutputFormat(flags, LIST_FORMATS, services), images};
};
