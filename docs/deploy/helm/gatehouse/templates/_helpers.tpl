{{- define "gatehouse.fullname" -}}
{{- if contains .Chart.Name .Release.Name -}}
{{- .Release.Name | trunc 63 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 63 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "gatehouse.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "gatehouse.labels" -}}
{{ include "gatehouse.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- define "gatehouse.secretName" -}}
{{- .Values.existingSecret | default (include "gatehouse.fullname" .) -}}
{{- end -}}

{{- define "gatehouse.hasSmtp" -}}
{{- if or .Values.secrets.smtpUrl .Values.optionalKeys.smtpUrl -}}yes{{- end -}}
{{- end -}}

{{- define "gatehouse.hasOtlpHeaders" -}}
{{- if or .Values.secrets.otlpHeaders .Values.optionalKeys.otlpHeaders -}}yes{{- end -}}
{{- end -}}

{{- define "gatehouse.hasConfig" -}}
{{- if or .Values.config .Values.existingConfigSecret -}}yes{{- end -}}
{{- end -}}
