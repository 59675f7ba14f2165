# Speaks a text with espeak-ng. No text of a row is ever part of a command: it goes through a file.
set -e
python3 -c 'import json, sys; print(json.load(sys.stdin)["text"])' >.text
voice=$(python3 -c 'import json, os; print(json.load(open(os.environ["RUNSHEET_INPUT"])).get("voice", "en"))')
exec espeak-ng -v "$voice" -f .text -w speech.wav
