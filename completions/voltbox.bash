# bash completion, printed by: voltbox --completion bash
_vcompress()
{
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}
	if [ "$cur" = = ]; then cur=; fi
	if [ "$prev" = = ]; then prev=${COMP_WORDS[COMP_CWORD-2]}; fi
	COMPREPLY=()
	case $prev in
		--favor) COMPREPLY=($(compgen -W 'speed balance size' -- "$cur")); return;;
	esac
	case $cur in
	-*) COMPREPLY=($(compgen -W ' --format= -F --fast --dictionary= -D --long --check --no-check --block-size= --seekable --favor= --transpose= --records= --no-probe --refuse --flush-interval= --kernel= --output= -o --stdout -c --keep -k --rm --no-sync --force -f --recursive -r --files0 --verify --sidecar= --decompress -d --test -t --list -l --threads= -T --memory= -M --json --progress --no-progress --verbose -v --quiet -q --help -h --version' -- "$cur"))
		case ${COMPREPLY[0]} in *=) compopt -o nospace;; esac;;
	*) COMPREPLY=($(compgen -f -- "$cur")); compopt -o filenames;;
	esac
}
complete -F _vcompress vcompress
_vdecompress()
{
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}
	if [ "$cur" = = ]; then cur=; fi
	if [ "$prev" = = ]; then prev=${COMP_WORDS[COMP_CWORD-2]}; fi
	COMPREPLY=()
	case $prev in
		--trailing) COMPREPLY=($(compgen -W 'error warn ignore' -- "$cur")); return;;
	esac
	case $cur in
	-*) COMPREPLY=($(compgen -W ' --decompress -d --test -t --list -l --format= -F --dictionary= -D --size= --trailing= --pass-through --salvage --max-output= --max-ratio= --records= --record= --key= --range= --kernel= --output= -o --stdout -c --keep -k --rm --no-sync --force -f --recursive -r --files0 --sparse --no-sparse --threads= -T --memory= -M --json --progress --no-progress --verbose -v --quiet -q --help -h --version' -- "$cur"))
		case ${COMPREPLY[0]} in *=) compopt -o nospace;; esac;;
	*) COMPREPLY=($(compgen -f -- "$cur")); compopt -o filenames;;
	esac
}
complete -F _vdecompress vdecompress
_vprobe()
{
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}
	if [ "$cur" = = ]; then cur=; fi
	if [ "$prev" = = ]; then prev=${COMP_WORDS[COMP_CWORD-2]}; fi
	COMPREPLY=()
	case $prev in
		--for) COMPREPLY=($(compgen -W 'transport storage read-heavy web web-static web-dynamic' -- "$cur")); return;;
	esac
	case $cur in
	-*) COMPREPLY=($(compgen -W ' --quiet -q --tee --for= --bench --train --columns --blocks --bandwidth= --rtt= --reads= --price= --write-budget= --block= --rounds= --seed= --csv --plot --svg= --output= -o --dict-size= --width= --format= -F --each --records= --codecs= --sample= --json --verbose -v --help -h --version' -- "$cur"))
		case ${COMPREPLY[0]} in *=) compopt -o nospace;; esac;;
	*) COMPREPLY=($(compgen -f -- "$cur")); compopt -o filenames;;
	esac
}
complete -F _vprobe vprobe
_vconvert()
{
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}
	if [ "$cur" = = ]; then cur=; fi
	if [ "$prev" = = ]; then prev=${COMP_WORDS[COMP_CWORD-2]}; fi
	COMPREPLY=()
	case $prev in
		--assume) COMPREPLY=($(compgen -W 'raw lz4 lzvolt' -- "$cur")); return;;
		--to) COMPREPLY=($(compgen -W 'raw lz4 lzvolt' -- "$cur")); return;;
		--mode) COMPREPLY=($(compgen -W 'repack retoken wrap' -- "$cur")); return;;
		--favor) COMPREPLY=($(compgen -W 'speed balance size' -- "$cur")); return;;
		--on-error) COMPREPLY=($(compgen -W 'stop keep skip' -- "$cur")); return;;
	esac
	case $cur in
	-*) COMPREPLY=($(compgen -W ' --from= --into= --assume= --flag= --framings --to= --mode= --exact --recompress --favor= --no-verify --no-check --on-error= --dry-run --report= --report-records --kernel= --resume= --shard= --output= -o --stdout -c --force -f --no-sync --threads= -T --memory= -M --json --progress --no-progress --verbose -v --quiet -q --help -h --version' -- "$cur"))
		case ${COMPREPLY[0]} in *=) compopt -o nospace;; esac;;
	*) COMPREPLY=($(compgen -f -- "$cur")); compopt -o filenames;;
	esac
}
complete -F _vconvert vconvert
