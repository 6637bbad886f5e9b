# Prints the answer of a status: awk -F'\t' -v answer=503.html -f answer.awk answers.tsv page.html
FNR == 1 { files++ }
files == 1 && $1 == answer + 0 { name = $2; code = $3; heading = $4; text = $5; again = $6 }
files == 1 { next }
answer ~ /json$/ { printf "{\"detail\": \"%s\"}\n", text; exit }
answer ~ /problem$/ {
	printf "{\"type\": \"about:blank\", \"title\": \"%s\", \"code\": \"%s\", \"status\": %d, ", name, code, answer
	printf "\"detail\": \"%s\"}\n", text
	exit
}
/<a / && !again && /Try again/ { next }
{
	gsub(/@HEADING@/, heading)
	gsub(/@TEXT@/, text)
	print
}
