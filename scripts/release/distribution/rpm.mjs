import {execFile} from 'node:child_process';
import {mkdir, rename, writeFile} from 'node:fs/promises';
import {dirname, join} from 'node:path';
import {promisify} from 'node:util';
import {writeFiles} from '../files.mjs';
import {CONFIG_FILE, MANIFEST_FOLDER, packageFiles, rpmDocuments} from './contents.mjs';
import {ARCHITECTURES, DESCRIPTION, MAINTAINER, packageVersion, REVISION, SUMMARY} from './identity.mjs';
import {RPM_SCRIPTS} from './maintainer-scripts.mjs';

const run = promisify(execFile);

/** Settings of rpmbuild: the files are final, and the package does not depend on the machine that builds it. */
const MACROS = {
  _buildhost: 'reproducible',
  use_source_date_epoch_as_buildtime: '1',
  clamp_mtime_to_source_date_epoch: '1',
  _build_id_links: 'none',
  debug_package: '%{nil}',
  __os_install_post: '%{nil}',
  _binary_payload: 'w9.zstdio',
};

/** Returns the name of the package of a version for a target. */
export function rpmName(version, target) {
  return `kcri-${packageVersion(version)}-${REVISION}.${ARCHITECTURES[target].rpm}.rpm`;
}

/**
 * Writes the rpm package of a target to a directory. Equal input gives equal bytes, with the same version of rpmbuild.
 *
 * @param {import('./distribution.mjs').Packed} packed
 * @param {string} scratch an empty directory
 * @param {string} folder
 */
export async function writeRpm(packed, scratch, folder) {
  const {root, program, noticesText, manifest, target, time} = packed;
  const documents = rpmDocuments({root, noticesText});
  const files = await packageFiles({root, program, documents, zshFolder: 'share/zsh/site-functions'});
  const stage = join(scratch, 'files');
  await writeFiles(stage, files, time);
  await mkdir(join(stage, MANIFEST_FOLDER.path), {recursive: true});
  const spec = join(scratch, 'kcri.spec');
  await writeFile(spec, specFile({...packed, files, stage}));
  const macros = {...MACROS, _topdir: scratch};
  await run(
    'rpmbuild',
    [
      '-bb',
      ...['--target', `${ARCHITECTURES[target].rpm}-linux`],
      ...Object.entries(macros).flatMap(([name, value]) => ['--define', `${name} ${value}`]),
      spec,
    ],
    {env: {...process.env, SOURCE_DATE_EPOCH: String(time)}},
  );
  const name = rpmName(manifest.version, target);
  await rename(join(scratch, 'RPMS', ARCHITECTURES[target].rpm, name), join(folder, name));
}

function specFile({manifest, glibc, time, files, stage}) {
  const version = packageVersion(manifest.version);
  const sections = Object.entries(RPM_SCRIPTS).map(
    // Without %, which starts a macro.
    ([name, text]) => `%${name}\n${text.replaceAll('%', '%%')}\n`,
  );
  return `Name: kcri
Version: ${version}
Release: ${REVISION}
Summary: ${SUMMARY}
License: ${manifest.license}
Packager: ${MAINTAINER}
AutoReqProv: no
Requires: libc.so.6(GLIBC_${glibc})(64bit)
Suggests: (containerd or containerd.io or cri-o)
Suggests: openssh-clients

%description
${DESCRIPTION.join('\n')}

%install
cp -a ${stage}/. %{buildroot}/

${sections.join('\n')}
%files
%defattr(-,root,root,0755)
${fileList(files)}
%changelog
* ${changelogDate(time)} ${MAINTAINER} - ${version}-${REVISION}
- Release ${manifest.version}: see CHANGELOG.md.
`;
}

const DOCUMENT_FOLDERS = {'usr/share/doc/kcri': '%doc', 'usr/share/licenses/kcri': '%license'};

/** Returns the lines of %files. The directories of documents and of the configuration belong to the package. */
function fileList(files) {
  const lines = files
    .filter(({path}) => DOCUMENT_FOLDERS[dirname(path)] === undefined)
    .map(({path, mode = 0o644}) => {
      const config = path === CONFIG_FILE ? '%config(noreplace) ' : '';
      return `%attr(${mode.toString(8).padStart(4, '0')},root,root) ${config}/${path}`;
    });
  return [
    ...lines.sort(),
    ...Object.entries(DOCUMENT_FOLDERS).map(([path, mark]) => `${mark} /${path}`),
    `%dir /${dirname(CONFIG_FILE)}`,
    `%dir %attr(0${MANIFEST_FOLDER.mode.toString(8)},root,root) /${MANIFEST_FOLDER.path}`,
    '',
  ].join('\n');
}

function changelogDate(time) {
  const [, day, month, year] = /(\d+) (\w+) (\d+)/.exec(new Date(time * 1000).toUTCString());
  const weekday = new Date(time * 1000).toUTCString().slice(0, 3);
  return `${weekday} ${month} ${day} ${year}`;
}
