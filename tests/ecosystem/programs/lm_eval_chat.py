"""EleutherAI's harness: ten questions over local-chat-completions, scored by their answer line."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from reporting import report

TASK = """
task: legs
dataset_path: json
dataset_kwargs: {{data_files: {{test: {rows}}}}}
test_split: test
output_type: generate_until
doc_to_text: "{{{{question}}}}"
doc_to_target: "{{{{answer}}}}"
generation_kwargs: {{until: ["\\n\\n\\n"], max_gen_toks: 512}}
filter_list:
  - name: answer-line
    filter:
      - {{function: regex, regex_pattern: "Answer: (.*)"}}
      - {{function: take_first}}
metric_list:
  - {{metric: exact_match, aggregation: mean, higher_is_better: true}}
"""
ROWS = [{"question": f"Question {i}: how many legs has a spider?", "answer": "8"} for i in range(5)]
ROWS += [{"question": f"Question {i}: how many legs has a millipede?", "answer": "750"} for i in range(5, 10)]

with tempfile.TemporaryDirectory() as folder:
    home = Path(folder)
    (home / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    (home / "legs.yaml").write_text(TASK.format(rows=home / "rows.jsonl"))
    asked = f"base_url={report.url()}/chat/completions,model=demur-test,num_concurrent=2,max_retries=1"
    command = [sys.executable, "-m", "lm_eval", "--model", "local-chat-completions", "--model_args", asked]
    command += [
        "--tasks",
        "legs",
        "--include_path",
        folder,
        "--apply_chat_template",
        "--output_path",
        str(home / "out"),
    ]
    subprocess.run(command, stdout=sys.stderr, check=True)
    (found,) = (home / "out").rglob("results_*.json")
    result = json.loads(found.read_text())["results"]["legs"]
    report("benchmark", result["exact_match,answer-line"])
